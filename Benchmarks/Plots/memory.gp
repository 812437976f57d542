# Peak of memory of a migration over the memory before, by the size of the store. Variables: data, out, ink, paper, grid.
set terminal svg size 860,360 dynamic font "Helvetica,13" background paper
set output out
set border 3 linecolor rgb ink
set title "Memory of a migration under a ceiling of 16 MiB" textcolor rgb ink
set tics nomirror textcolor rgb ink
set grid linecolor rgb grid linetype 1
set xlabel "MiB of the store" textcolor rgb ink
set ylabel "MiB over the memory before" textcolor rgb ink
set logscale x 2
set datafile missing "-"
stats data using 1 nooutput
set xrange [STATS_min / 1.2:STATS_max * 1.2]
set yrange [0:40]
set key inside right bottom textcolor rgb ink samplen 2
plot 32 linewidth 2 dashtype 2 linecolor rgb ink title "ceiling + 16 MiB: the bound", \
    data using 1:2:xticlabels(1) with linespoints linewidth 2 pointtype 7 linecolor rgb "#d1495b" title "streamed stage", \
    data using 1:3 with linespoints linewidth 2 pointtype 7 linecolor rgb "#4c8eda" title "entity migration policy"
