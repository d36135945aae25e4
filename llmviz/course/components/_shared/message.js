// Decoding what Python packed (see transport.py), for scripts that need nothing else.

const ARRAYS = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

export function unpack(message) {
  // One copy puts the arrays on the four-byte borders that typed arrays need.
  const bytes = message.slice();
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  return JSON.parse(head, (_, item) => {
    if (!item?.$array) return item;
    const [type, shape, offset] = item.$array;
    const count = shape.reduce((a, b) => a * b, 1);
    const array = new ARRAYS[type](bytes.buffer, 4 + length + offset, count);
    array.shape = shape;
    return array;
  });
}
