# 99th percentile of the latency of a photo service by clients, a panel for each endpoint. Variables: data, out, ink, ….
set terminal svg size 900,300 dynamic font "Helvetica,13" background paper
set output out
set border 3 linecolor rgb ink
set multiplot layout 1,4 title "99 of 100 requests take at most … ms (lower is better)" textcolor rgb ink margins 0.05,0.99,0.19,0.80 spacing 0.045,0
set logscale xy
set tics nomirror textcolor rgb ink
set grid linecolor rgb grid linetype 1
set xlabel "clients" textcolor rgb ink offset 0,0.4
set xtics (1, 8, 64, 256)
set xrange [0.8:320]
set yrange [0.1:200]
set ytics (0.1, 1, 10, 100)
set key left top samplen 1.5 textcolor rgb ink
do for [name in "get list post mixed"] {
    set title name textcolor rgb ink offset 0,-0.5
    plot data using 2:(strcol(1) eq name ? $3 : NaN) with linespoints linewidth 2 pointtype 7 linecolor rgb "#d1495b" title "Faultline", \
        data using 2:(strcol(1) eq name ? $4 : NaN) with linespoints linewidth 2 pointtype 7 linecolor rgb "#4c8eda" title "GRDB"
    unset key
    set format y ""
}
unset multiplot
