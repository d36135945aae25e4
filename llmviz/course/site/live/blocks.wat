;; Products with packed blocks of 32 weights, 32 at once (blocks.js says what a block is). The vector comes
;; in 16 bits: whole numbers, and for each block of 32 the step that they count. An instruction a line.
(module
  (import "js" "memory" (memory 1))

  ;; Q4_1: out[row] = Σ over blocks of scale·step·Σ n·x + low·sum. at: the first block. x: int16, 64 bytes a
  ;; block. told: step and sum of each block (float32). halves: float32 of each float16. end: behind out.
  (func (export "q4")
    (param $at i32) (param $x i32) (param $told i32) (param $halves i32) (param $blocks i32) (param $out i32) (param $end i32)
    (local $n i32) (local $px i32) (local $pt i32) (local $v v128) (local $high v128) (local $sum v128) (local $low f32)
    loop $row
      local.get $blocks
      local.set $n
      local.get $x
      local.set $px
      local.get $told
      local.set $pt
      f32.const 0
      local.tee $low
      f32x4.splat
      local.set $sum
      loop $block
        local.get $at
        v128.load offset=4 align=4
        local.tee $v
        i32.const 4
        i8x16.shr_u
        local.set $high
        local.get $v
        i32.const 15
        i8x16.splat
        v128.and
        local.tee $v
        i16x8.extend_low_i8x16_u
        local.get $px
        v128.load offset=0 align=16
        i32x4.dot_i16x8_s
        local.get $v
        i16x8.extend_high_i8x16_u
        local.get $px
        v128.load offset=16 align=16
        i32x4.dot_i16x8_s
        i32x4.add
        local.get $high
        i16x8.extend_low_i8x16_u
        local.get $px
        v128.load offset=32 align=16
        i32x4.dot_i16x8_s
        local.get $high
        i16x8.extend_high_i8x16_u
        local.get $px
        v128.load offset=48 align=16
        i32x4.dot_i16x8_s
        i32x4.add
        i32x4.add
        f32x4.convert_i32x4_s
        local.get $at
        i32.load16_u offset=0 align=2
        i32.const 2
        i32.shl
        local.get $halves
        i32.add
        f32.load offset=0 align=4
        local.get $pt
        f32.load offset=0 align=4
        f32.mul
        f32x4.splat
        f32x4.mul
        local.get $sum
        f32x4.add
        local.set $sum
        local.get $at
        i32.load16_u offset=2 align=2
        i32.const 2
        i32.shl
        local.get $halves
        i32.add
        f32.load offset=0 align=4
        local.get $pt
        f32.load offset=4 align=4
        f32.mul
        local.get $low
        f32.add
        local.set $low
        local.get $at
        i32.const 20
        i32.add
        local.set $at
        local.get $px
        i32.const 64
        i32.add
        local.set $px
        local.get $pt
        i32.const 8
        i32.add
        local.set $pt
        local.get $n
        i32.const 1
        i32.sub
        local.tee $n
        br_if $block
      end
      local.get $out
      local.get $sum
      f32x4.extract_lane 0
      local.get $sum
      f32x4.extract_lane 1
      f32.add
      local.get $sum
      f32x4.extract_lane 2
      f32.add
      local.get $sum
      f32x4.extract_lane 3
      f32.add
      local.get $low
      f32.add
      f32.store offset=0 align=4
      local.get $out
      i32.const 4
      i32.add
      local.tee $out
      local.get $end
      i32.lt_u
      br_if $row
    end
  )

  ;; Q8_0: out[row] = Σ over blocks of scale·step·Σ n·x, the rest as above.
  (func (export "q8")
    (param $at i32) (param $x i32) (param $told i32) (param $halves i32) (param $blocks i32) (param $out i32) (param $end i32)
    (local $n i32) (local $px i32) (local $pt i32) (local $v v128) (local $high v128) (local $sum v128)
    loop $row
      local.get $blocks
      local.set $n
      local.get $x
      local.set $px
      local.get $told
      local.set $pt
      f32.const 0
      f32x4.splat
      local.set $sum
      loop $block
        local.get $at
        v128.load offset=2 align=2
        local.tee $v
        i16x8.extend_low_i8x16_s
        local.get $px
        v128.load offset=0 align=16
        i32x4.dot_i16x8_s
        local.get $v
        i16x8.extend_high_i8x16_s
        local.get $px
        v128.load offset=16 align=16
        i32x4.dot_i16x8_s
        i32x4.add
        local.get $at
        v128.load offset=18 align=2
        local.tee $high
        i16x8.extend_low_i8x16_s
        local.get $px
        v128.load offset=32 align=16
        i32x4.dot_i16x8_s
        local.get $high
        i16x8.extend_high_i8x16_s
        local.get $px
        v128.load offset=48 align=16
        i32x4.dot_i16x8_s
        i32x4.add
        i32x4.add
        f32x4.convert_i32x4_s
        local.get $at
        i32.load16_u offset=0 align=2
        i32.const 2
        i32.shl
        local.get $halves
        i32.add
        f32.load offset=0 align=4
        local.get $pt
        f32.load offset=0 align=4
        f32.mul
        f32x4.splat
        f32x4.mul
        local.get $sum
        f32x4.add
        local.set $sum
        local.get $at
        i32.const 34
        i32.add
        local.set $at
        local.get $px
        i32.const 64
        i32.add
        local.set $px
        local.get $pt
        i32.const 8
        i32.add
        local.set $pt
        local.get $n
        i32.const 1
        i32.sub
        local.tee $n
        br_if $block
      end
      local.get $out
      local.get $sum
      f32x4.extract_lane 0
      local.get $sum
      f32x4.extract_lane 1
      f32.add
      local.get $sum
      f32x4.extract_lane 2
      f32.add
      local.get $sum
      f32x4.extract_lane 3
      f32.add
      f32.store offset=0 align=4
      local.get $out
      i32.const 4
      i32.add
      local.tee $out
      local.get $end
      i32.lt_u
      br_if $row
    end
  )
)
