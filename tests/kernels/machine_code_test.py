"""tests/kernels/machine_code.py: instructions as nvdisasm -hex prints them, and what is refused."""

import struct
import unittest

import machine_code

# Instruction words of sm_90 as nvdisasm -hex showed them beside their names; the second word of an
# instruction holds no part of its name.
HGMMA_FROM_REGISTERS = 0x40E0000478587DF0  # HGMMA.64x64x16.F32.BF16 R88, R120, gdesc[UR4].tnspB
HGMMA_BY_ROWS = 0x01E00018A0187DF0  # HGMMA.64x128x16.F32.BF16 R24, R160, gdesc[UR24], R24
HGMMA_OF_THE_SAME_A = 0x41E00010A0587DF0  # the same, R88, R160, gdesc[UR16].tnspB, R88
HGMMA_FROM_SHARED = 0x01E00000041879F0  # HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], RZ
WARPGROUP_ARRIVE = 0x00000000000079C5
WARPGROUP_DEPBAR = 0x00008000000079C5  # WARPGROUP.DEPBAR.LE gsb0, 0x0
LOAD_LOCAL = 0x00000000080C7983  # LDL R12, [R8]
STORE_LOCAL = 0x0000000801007387  # STL.128 [R1], R8
WARPSYNC = 0x0000000000000948  # @P0 WARPSYNC.ALL


def code(*words):
    return b"".join(struct.pack("<QQ", word, 0) for word in words)


def row(**changes):
    counts = dict.fromkeys(machine_code.COUNTS, 0) | {"hgmma": 24, "waits": 7, "warp_syncs": 1}
    return {"kernel": "k", "registers": 168, "stack_bytes": 0, **counts, **changes}


class Instructions(unittest.TestCase):
    def test_each_is_counted_under_its_name(self):
        words = [WARPGROUP_ARRIVE, HGMMA_FROM_SHARED, *[HGMMA_FROM_REGISTERS] * 2, WARPGROUP_DEPBAR]
        words += [*[LOAD_LOCAL] * 3, STORE_LOCAL, *[WARPSYNC] * 2]
        expected = {"hgmma": 3, "waits": 1, "local_loads": 3, "local_stores": 1, "warp_syncs": 2}
        self.assertEqual(
            machine_code.instruction_counts(code(*words)),
            dict.fromkeys(machine_code.COUNTS, 0) | expected,
        )

    def test_registers_of_a_that_both_products_read_are_counted(self):
        apart = code(HGMMA_BY_ROWS, HGMMA_FROM_REGISTERS, HGMMA_FROM_SHARED)
        self.assertEqual(machine_code.instruction_counts(apart)["twofold_operands"], 0)
        same = code(HGMMA_BY_ROWS, HGMMA_OF_THE_SAME_A)
        self.assertEqual(machine_code.instruction_counts(same)["twofold_operands"], 4)


class Faults(unittest.TestCase):
    def test_a_kernel_in_registers_with_few_waits_has_none(self):
        self.assertEqual(list(machine_code.faults(row())), [])

    def test_local_memory_the_slow_path_and_serialised_products_are_named(self):
        for changes, word in (
            (dict(stack_bytes=16), "spills"),
            (dict(local_loads=1), "spills"),
            (dict(hmma=1), "1 HMMA"),
            (dict(hgmma=0, waits=0), "0 HGMMA"),
            (dict(waits=24), "serialised"),
            (dict(warp_syncs=50), "uniform"),
            (dict(twofold_operands=4), "overwrites"),
        ):
            self.assertTrue(
                any(word in fault for fault in machine_code.faults(row(**changes))), changes
            )

    def test_a_spill_on_blackwell_is_one_of_covering_variants_alone(self):
        covering = machine_code.covering_variants()

        def spills(kernel):
            return list(machine_code.faults(row(kernel=kernel, stack_bytes=16), covering))

        for kernel, is_fault in (
            ("sm_90 bf16 mma d64 128x128 4 warps 2 stages", True),
            ("sm_121 bf16 mma d64 128x128 4 warps 2 stages", False),
            ("sm_100 bf16 mma-tma d128 128x64 4 warps 2 stages", False),
            ("sm_121 fp16 mma d64 64x64 4 warps 2 stages", True),
            ("sm_121 fp16 mma-tma d64 64x64 4 warps 2 stages", True),
            ("sm_121 fp16 mma backward d64 64x128 4 warps 2 stages", False),
            ("sm_121 fp16 mma backward d32 128x64 4 warps 2 stages", True),
            ("sm_121 fp16 mma backward d128 32x64 4 warps 2 stages", True),
            ("sm_121 fp32 mma backward d128 32x64 4 warps 2 stages", False),
            ("sm_121 fp16 mma d32 128x64 4 warps 2 stages", False),
            ("fp16 d64 128x128 2 stages no overlap", True),
        ):
            self.assertEqual(bool(spills(kernel)), is_fault, kernel)


class Titles(unittest.TestCase):
    HOPPER = "_ZN8sawtooth7kernels6hopper"
    MASKED = HOPPER + "13forward_shortINS1_11MaskedShapeI%sEEEEv14CUtensorMap_st"
    BACKWARD = (
        HOPPER + "8backwardINS1_13BackwardShapeI13__nv_bfloat16Li64ELi128ELi128ELi2ELi64ELb%dEEEEEv"
    )
    MMA = "_ZN8sawtooth7kernels"
    NAMES = (  # mangled names and what is read from them
        (
            HOPPER + "7forwardINS1_5ShapeI13__nv_bfloat16Li128ELi2ELi176ELi2E"
            "LNS1_7OverlapE1EEEEEv14CUtensorMap_st",
            "bf16 d128 128x176 2 stages ping-pong",
        ),
        (
            HOPPER + "13forward_shortINS1_10ShortShapeINS1_5ShapeI6__halfLi64ELi2ELi64ELi2E"
            "LNS1_7OverlapE0EEELi2EEEEEv14CUtensorMap_st",
            "fp16 short d64 128x64 2 stages no overlap",
        ),
        (MASKED % "13__nv_bfloat16", "bf16 short masked d128 128x128"),
        (MASKED % "6__half", "fp16 short masked d128 128x128"),
        (BACKWARD % 0, "bf16 backward d64 128x128 2 stages parts of 64"),
        (BACKWARD % 1, "bf16 backward d64 128x128 2 stages parts of 64 ordered"),
        (
            MMA + "18forward_tma_kernelINS0_12ForwardShapeI6__halfLi64ELi128ELi128E"
            "Li4ELi2ELi128ELb0ELi2EEEEEv14CUtensorMap_stS4_S4_NS0_16ForwardArgumentsE",
            "fp16 mma-tma d64 128x128 4 warps 2 stages",
        ),
        (
            MMA + "14forward_kernelINS0_12ForwardShapeIfLi128ELi64ELi32ELi4ELi2ELi32E"
            "Lb0ELi2EEEEEvNS0_16ForwardArgumentsE",
            "fp32 mma d128 64x32 4 warps 2 stages",
        ),
        (
            MMA + "15backward_kernelINS0_13BackwardShapeIfLi128ELi32ELi128ELi8ELi2ELi16ELi1EEE"
            "Lb1EEEvNS0_17BackwardArgumentsE",
            "fp32 mma backward d128 32x128 8 warps 2 stages",
        ),
        (
            MMA + "15backward_kernelINS0_13BackwardShapeI13__nv_bfloat16Li64ELi64E"
            "Li128ELi4ELi2ELi32ELi2EEEEEvNS0_17BackwardArgumentsE",
            "bf16 mma backward d64 64x128 4 warps 2 stages",
        ),
    )

    def test_a_shape_is_read_from_its_mangled_name(self):
        for name, title in self.NAMES:
            self.assertEqual(machine_code.title(name), title)


class Usage(unittest.TestCase):
    # Lines as cuobjdump -res-usage prints them; kernels without a shape are left out.
    TEXT = """
arch = sm_90
 Function _ZN8sawtooth7kernels14forward_kernelINS0_12ForwardShapeI13__nv_bfloat16Li64ELi80ELi80ELi5ELi2ELi80ELb1ELi2EEEEEvNS0_16ForwardArgumentsE:
  REG:168 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:1000 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _ZN8sawtooth7kernels7combineEv:
  REG:32 STACK:8 SHARED:0 LOCAL:0
"""

    def test_kernels_are_read_with_their_architecture(self):
        rows = list(machine_code.usage_rows(self.TEXT))
        self.assertEqual(
            rows,
            [
                {
                    "kernel": "sm_90 bf16 mma d64 80x80 5 warps 2 stages",
                    "registers": 168,
                    "stack_bytes": 0,
                }
            ],
        )
        self.assertEqual(list(machine_code.faults(rows[0])), [])
        self.assertTrue(list(machine_code.faults(dict(rows[0], stack_bytes=16))))


if __name__ == "__main__":
    unittest.main()
