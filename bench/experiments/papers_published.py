# SPDX-License-Identifier: BSD-3-Clause
"""Lists all figures that the papers' texts give: those with an experiment, and those without."""
from papers_coalescing import COALESCING
from papers_multiqueue import MULTIQUEUE
from papers_offload import OFFLOAD

PAPERS = (
    ("Interrupt coalescing", "C", COALESCING), ("Multiqueue", "Q", MULTIQUEUE), ("Copy offload", "I and J", OFFLOAD))

LEFT_OUT = (  # in the order of the texts
    "[C] II-A: an interrupt costs \"several microseconds\"; IV-B1: so does waking a core. No figures.",
    "[C] Fig. 4 to 6: curves without figures in the text; ours are plotted, and the points that the text names are in the tables.",
    "[C] IV-C4: the firmware can put off interrupts \"by 3 or 4 packets\": not reproduced, in the model by none (Table III).",
    "[C] abstract, Tables I, IV and V, VI: \"7-8 %\", \"up to 11.6 %\", \"26 %\", \"factor of 2\", \"22 times\", \"15-20 %\" are the tables' figures in other words.",
    "[Q] 4.1: close to 10 us with MPI: with the 8 us without it an input (`mpi_ns`).",
    "[Q] Fig. 5 and 4.5: \"less than 150 %\" of native MX, and faster than it near 4 kB: there is no native MX in the model. \"More than 30 %\" (5) is the 1.3 above.",
    "[Q] Table III, column MX: no native MX. Its improvements (2.8 to 6.8 %, 8.5 and 2.6 times) are the columns' in other words (8.5 of neither: they yield 9.5 and 8.7), as are 4.4's factors 2 and 100 those of Table II.",
    "[I] II-A: 100 ns for a system call; IV-A: 350 ns, 1.6, 1.5, 2.4 and 12 GiB/s, 1 kB; [J] 3.2, 5.3 the same and 2.5 GB/s: inputs. 600 B (2 kB in cache), from which on copying by the engine pays, is 350 ns "
    "times the processor's rate; 2 kB in cache does not follow: the 12 GiB/s given beside it yield 4.5 kB.",
    "[I] Fig. 3 and 11, [J] Fig. 10: 1140 MiB/s of native MX. Fig. 11, registration cache: without a figure, see there; what ours distinguishes instead is measured "
    "[live](evaluation-live.md#i-fig-11-what-a-registration-cache-would-tell-apart).",
    "[I] Fig. 7: chunks of 256 B and 1 kB have no figures in the text, and the model's rate of the engine is an input for 4 kB.",
    "[I] IV-C, Fig. 10: 6 and 1.2 GiB/s between two processes of a host are inputs of the model; 2.3 GiB/s, 80 % more by the engine, would repeat one ([live](evaluation-live.md) it is measured).",
    "[I] IV-D: 68, 90 and 94 % of native MX; up to 10 % on NAS, without class and number of processes. V: several channels, 40 %, is another paper's.",
    "[I] abstract, VI: 30 %, 40 % and 80 % are Fig. 11's, 9's and 10's in other words.",
    "[J] 5.2, Fig. 9: 1 Gb/s (44.6, 24.9, 50.5, 30.8 us, up to 10 %): another NIC, which is not described. TCP (75, 13.2 us, 80 %), Table 1 (37 figures), Table 2's TCP (8), 5.4's 50 %: no TCP in the model. "
    "[evaluation-live.md](evaluation-live.md) has what can be measured of them today, on a cable of 1 Gb/s, too.",
    "[J] 5.5, Fig. 13: 65 and 90 % of native MX. Fig. 14: no figures in the text, its orders are judged above, and live at 1 Gb/s.",
    "[J] Table 3 and 5.6: TCP, native MX and Open-MX beside each other (24 figures; 6.2, 21.7, 1.8 %, a factor of 4 \"under some unclear circumstances\"): neither TCP nor MX in the model; is.C with MX is an "
    "input (`key_ns`).",
)
