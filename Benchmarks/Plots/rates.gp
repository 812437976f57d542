# Faultline beside its peers: ratios of rates, a bar for each workload and peer. Variables: data, out, ink, paper, grid.
set terminal svg size 860,460 dynamic font "Helvetica,13" background paper
set output out
set border 0
set title "Rate of Faultline by the rate of the peer: above 1, Faultline is faster" textcolor rgb ink offset 0,-0.5
set key outside bottom center horizontal textcolor rgb ink samplen 1.5
set logscale x 2
set datafile missing "-"
set xrange [0.25:64]
set xtics scale 0 nomirror ("¼" 0.25, "½" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32, "64" 64) textcolor rgb ink
set ytics scale 0 nomirror textcolor rgb ink
set lmargin 30
set grid xtics linecolor rgb grid linetype 1
set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 2 linecolor rgb ink back
stats data using 1 nooutput
rows = int(STATS_records)
set yrange [rows - 0.5:-0.5] noreverse
array peers[4] = ["grdb-record", "sqlite-prepared", "rocksdb", "lmdb"]
array names[4] = ["GRDB records", "SQLite prepared", "RocksDB", "LMDB"]
array colors[4] = ["#4c8eda", "#57a773", "#e08e45", "#b565a7"]
set style fill solid 1.0 noborder
# The dots have the colour of the paper: they carry the names of the workloads.
plot data using (1):1:yticlabels(2) with dots linecolor rgb paper notitle, \
    for [k=1:4] data using (1):($1 - 0.45 + 0.18 * k):(1):(column(k + 2)):($1 - 0.53 + 0.18 * k):($1 - 0.37 + 0.18 * k) \
    with boxxyerror linecolor rgb colors[k] title names[k]
