/// The appearance of the pages, in light and dark.
enum StyleSheet {
    static let text = """
        :root { color-scheme: light dark; --ink: #1d2330; --soft: #5a6478; --paper: #fbfbfd; --panel: #fff;
          --line: #dfe3ea; --mark: #2456c5; --live: #3b7dd8; --dead: #d9dee8; --warn: #b3411e; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e4e8f0; --soft: #9aa5b8; --paper: #14171d;
          --panel: #1b1f27; --line: #2d3440; --mark: #85b0ff; --live: #5b97e8; --dead: #333c4b; --warn: #ff9a76; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
        header, main, footer { max-width: 76rem; margin: 0 auto; padding: .75rem 1.25rem; }
        header { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: baseline;
          border-bottom: 1px solid var(--line); }
        nav { display: flex; gap: 1.1rem; align-items: baseline; }
        .store, footer { color: var(--soft); font-size: 13px; }
        .store { margin: 0; }
        .store { overflow-wrap: anywhere; }
        h1 { font-size: 1.4rem; margin: .75rem 0; font-weight: 650; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; font-weight: 650; }
        a { color: var(--mark); text-decoration: none; } a:hover { text-decoration: underline; }
        a:focus-visible, input:focus-visible, select:focus-visible, button:focus-visible, main:focus-visible {
          outline: 2px solid var(--mark); outline-offset: 2px; }
        main:focus-visible { outline: none; }
        .skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .25rem; }
        .wide { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: .4rem .75rem; vertical-align: top; border-bottom: 1px solid var(--line); }
        tr:last-child > td, tr:last-child > th { border-bottom: 0; }
        thead th { font-size: 12.5px; color: var(--soft); font-weight: 600; white-space: nowrap; }
        tbody th { font-weight: 600; white-space: nowrap; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        td { overflow-wrap: anywhere; }
        .list td { max-width: 20rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
        .kind, .none, .soft { color: var(--soft); font-size: 13px; } .none { font-style: italic; }
        .warn { color: var(--warn); }
        .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; }
        form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin: .75rem 0; }
        fieldset { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .35rem; }
        legend { font-size: 12.5px; color: var(--soft); padding: 0; }
        label { display: flex; flex-direction: column; font-size: 12.5px; color: var(--soft); }
        input, select, button { font: inherit; color: var(--ink); background: var(--panel);
          border: 1px solid var(--line); border-radius: 6px; padding: .3rem .5rem; max-width: 16rem; }
        button { background: var(--mark); color: var(--paper); border-color: var(--mark); cursor: pointer; }
        .picture { max-width: min(100%, 40rem); max-height: 26rem; display: block; margin: .35rem 0;
          border-radius: 6px; border: 1px solid var(--line); }
        .thumb { max-width: 6rem; max-height: 4rem; border-radius: 4px; vertical-align: middle; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: 13px; max-height: 22rem;
          overflow: auto; }
        .map { display: flex; flex-wrap: wrap; gap: 6px; list-style: none; padding: 0; margin: .5rem 0; }
        .map li { width: 8.5rem; font-size: 12px; border: 1px solid var(--line); border-radius: 6px;
          padding: .35rem .5rem; background: var(--panel); }
        svg.bar { display: block; width: 100%; height: 8px; border-radius: 4px; margin: .2rem 0; }
        svg .live { fill: var(--live); } svg .dead { fill: var(--dead); }
        .next { display: inline-block; margin: .75rem 0; }
        """
}
