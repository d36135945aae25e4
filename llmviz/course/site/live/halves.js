// The numbers of float16, each as a number: all 65,536 are few.
export const halves = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits++) {
  const exponent = (bits >> 10) & 31;
  const digits = (bits & 1023) / 1024;
  const size = exponent === 31 ? (digits ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + digits) : 2 ** -14 * digits;
  halves[bits] = bits >> 15 ? -size : size;
}
