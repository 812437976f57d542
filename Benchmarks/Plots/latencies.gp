# 99th percentile of the latency of a photo service by clients, a panel for each endpoint. Variables: data, out, ink, ….
set terminal svg size 860,520 dynamic font "Helvetica,13" background paper
set output out
set border 3 linecolor rgb ink
set multiplot layout 2,3 title "Latency of a photo service: 99 of 100 requests take at most … ms (lower is better)" textcolor rgb ink
set logscale xy
set tics nomirror textcolor rgb ink
set grid linecolor rgb grid
set xlabel "clients" textcolor rgb ink
set xtics (1, 4, 16, 64, 256)
set key left top samplen 1 textcolor rgb ink
do for [name in "get list post mixed search cameras"] {
    set title name textcolor rgb ink
    plot sprintf("< grep ' %s ' %s", name, data) using 3:4 with linespoints linewidth 2 pointtype 7 linecolor rgb "#d1495b" title "Faultline", \
        "" using 3:5 with linespoints linewidth 2 pointtype 7 linecolor rgb "#4c8eda" title "GRDB"
    unset key
}
unset multiplot
