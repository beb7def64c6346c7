/*
 * page_style.cpp - see page_style.hpp.
 */
#include "core/report/page_style.hpp"

namespace privacy_score {

// Colours first. Sections' headings stay at the top while their section is in sight, headers of tables and legends
// below them (--top). On paper all is light, everything is unfolded, and nothing stays anywhere.
const char* const kPageStyle =
    R"(:root{--ink:#1d2228;--soft:#57606a;--rule:#dce1e7;--paper:#fff;--box:#f5f7f9;--link:#0063a8;--mark:#a4262c;--warm:#8f4300;--bar:#c04b00;--rail:#e4e9ee;--base:#d9e8f4;--limit:#8f2d6b;--new:#ffe9c7;--h0:#a4afba;--h1:#fbdcc0;--h2:#f3b27c;--h3:#e0803a;--h4:#c04b00;--h5:#6e2800;--top:46px}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--rule:#2f363e;--paper:#14181d;--box:#1b2027;--link:#6cbaf5;--mark:#ff8f87;--warm:#f0b27a;--bar:#f0883e;--rail:#2c333b;--base:#1e3347;--limit:#e88bc4;--new:#5a3d10;--h0:#5d6975;--h1:#5a3a22;--h2:#8a5020;--h3:#bd6a22;--h4:#f0883e;--h5:#ffd0a1}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:calc(var(--top) + 44px)}
body{margin:0 auto;padding:28px 32px 64px;max-width:1840px;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",Arial,sans-serif;overflow-wrap:anywhere}
h1{font-size:27px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:20px;line-height:30px;margin:0 0 10px;padding:8px 0;position:sticky;top:0;z-index:3;background:var(--paper);border-bottom:1px solid var(--rule)}
section{margin-top:44px}
h3{font-size:15.5px;line-height:24px;margin:30px 0 6px}
h3.stick{position:sticky;top:var(--top);z-index:2;background:var(--paper);padding:6px 0;display:flex;flex-wrap:wrap;gap:2px 20px;align-items:center}
h4{font-size:13px;margin:0 0 6px;color:var(--soft);font-weight:600}
p{margin:6px 0 10px;max-width:84ch}
.lead,.note,.none,footer,.soft{color:var(--soft)}
.soft{font-size:13px}
.none{font-style:italic}
a{color:var(--link);text-underline-offset:2px}
a:focus-visible,summary:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible{outline:2px solid var(--link);outline-offset:2px}
a.term{color:inherit;text-decoration:underline dotted;text-decoration-color:var(--soft);text-underline-offset:3px;cursor:help}
code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:18px 0 0;padding:0;font-size:14px}
.tools{display:flex;flex-wrap:wrap;gap:8px;margin:14px 0 0;font-size:13.5px}
.tools[hidden]{display:none}
.tools label{display:block;flex:1 1 150px;color:var(--soft)}
.tools input,.tools select{display:block;width:100%;min-width:0;margin-top:2px;padding:6px 8px;font:inherit;color:var(--ink);background:var(--box);border:1px solid var(--rule);border-radius:6px}
.tools output{flex:1 1 100%;color:var(--soft);min-height:1.5em}
.tools button,th button{font:inherit;color:var(--link);background:none;border:0;padding:2px;cursor:pointer}
th button{display:block;color:var(--soft);font-size:12px;min-width:24px;min-height:24px;padding:0;text-align:left}
th.number button{margin-left:auto;text-align:right}
th button:hover,th[aria-sort] button{color:var(--link)}
.tools button{flex:0 1 auto;text-align:left;padding:4px 0;text-decoration:underline;text-underline-offset:2px}
.tiles{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(136px,1fr));gap:10px;margin:18px 0 0;padding:0}
.tiles li{background:var(--box);border:1px solid var(--rule);border-radius:10px}
.tiles a{color:inherit;text-decoration:none}
.tiles li>*{display:block;padding:10px 14px}
.tiles b{display:block;font-size:24px;line-height:1.25;font-variant-numeric:tabular-nums}
.tiles span{color:var(--soft);font-size:13px}
.tiles .alarm{border-color:var(--mark)}
.tiles .alarm b{color:var(--mark)}
.alerts{border-top:1px solid var(--rule);margin:8px 0 14px}
.alert{border-bottom:1px solid var(--rule)}
.alert summary{display:grid;grid-template-columns:16px 96px minmax(130px,1fr) minmax(180px,1.7fr) minmax(180px,2.4fr) minmax(150px,1.2fr);gap:2px 18px;padding:9px 8px 9px 4px;cursor:pointer;list-style:none;align-items:baseline}
.alert summary::-webkit-details-marker{display:none}
.alert summary::before{content:"\25B8";color:var(--soft)}
.alert[open] summary::before{content:"\25BE"}
.alert summary:hover{background:var(--box)}
.alert .soft{display:block}
.alert p.soft{margin:10px 0 0}
.alert .severity{font-weight:600;color:var(--warm)}
.critical .severity{color:var(--mark)}
.info .severity{color:var(--soft)}
.alert .who{font-weight:600}
.alert time{white-space:nowrap}
.alert .soft b{color:var(--ink)}
.behind p{max-width:none}
.behind{padding:4px 8px 18px 24px}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:18px;max-width:1200px}
.pair>div{background:var(--box);border:1px solid var(--rule);border-radius:10px;padding:12px 16px}
.pair pre{margin:0;white-space:pre-wrap}
.then{color:var(--soft);font-size:13px;margin:6px 0;font-style:italic}
mark{background:var(--new);color:inherit;border-radius:3px;padding:0 2px;font-weight:600}
.new{margin:10px 0 0;font-size:13.5px}
.reason{border-bottom:1px solid var(--rule)}
.reason summary{display:grid;grid-template-columns:16px 48px minmax(110px,180px) 96px 72px minmax(0,1fr);gap:0 14px;padding:8px 4px;cursor:pointer;list-style:none;align-items:baseline}
.reason summary::-webkit-details-marker{display:none}
.reason summary::before{content:"\25B8";color:var(--soft)}
.reason[open] summary::before{content:"\25BE"}
.reason summary:hover{background:var(--box)}
.reason .who{font-weight:600}
.reason .behind p{max-width:none}
.behind{padding-left:20px}
.reason b{font-variant-numeric:tabular-nums;text-align:right}
table{border-collapse:collapse;font-size:13.5px;line-height:1.4;margin:10px 0 18px;max-width:100%}
th,td{text-align:left;vertical-align:top;padding:6px 16px 6px 0;border-bottom:1px solid var(--rule)}
thead th{position:sticky;top:var(--top);z-index:1;background:var(--paper);font-weight:600;color:var(--soft);vertical-align:bottom;box-shadow:inset 0 -1px var(--rule)}
th.number,td.number{text-align:right;font-variant-numeric:tabular-nums}
td.code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;max-width:60ch}
td.number,td.share{overflow-wrap:normal}
td.short{min-width:12ch}
.day{white-space:nowrap}
td.share{white-space:nowrap;font-variant-numeric:tabular-nums}
td.mark{font-weight:600;color:var(--mark)}
th button[data-way]::after{content:" \25BE"}
th button[data-way="1"]::after{content:" \25B4"}
.bar{display:inline-block;width:90px;height:9px;margin-right:8px;background:var(--rail);border-radius:2px;overflow:hidden}
.bar i{display:block;height:100%;background:var(--bar)}
.chip{display:inline-block;font-size:12px;line-height:18px;padding:0 8px;border-radius:9px;background:var(--base);color:var(--ink);white-space:nowrap}
.chip.off{background:none;box-shadow:inset 0 0 0 1px var(--soft)}
.people{width:100%}
.people tbody th{font-weight:600;min-width:140px}
.people tbody th .chip{vertical-align:1px}
.people .number{min-width:68px}
.people .dates{width:108px;overflow-wrap:normal}
.people .number{width:68px}
thead th{overflow-wrap:normal;hyphens:none}
.people td.days{width:44%;padding-top:4px;padding-bottom:4px}
.strip{display:block;width:100%;height:28px;background:var(--box)}
.axis{display:flex;justify-content:space-between;gap:8px;font-weight:400;font-variant-numeric:tabular-nums}
.legend{display:inline-flex;flex-wrap:wrap;gap:0 12px;font-size:12px;font-weight:400;color:var(--soft)}
.legend i{display:inline-block;width:12px;height:12px;margin-right:4px;vertical-align:-2px}
.k0{background:var(--h0)}.k1{background:var(--h1)}.k2{background:var(--h2)}.k3{background:var(--h3)}.k4{background:var(--h4)}.k5{background:var(--h5)}
.kbase{background:var(--base)}.kbar{background:var(--bar)}
.legend .k0{height:4px;vertical-align:2px}
.legend .kover{height:4px;vertical-align:3px;background:var(--limit)}
.legend .kline,.legend .kdash{width:20px;height:0;border-top:2px solid var(--limit);vertical-align:4px}
.legend .kdash{border-top-style:dashed;border-top-width:1.5px}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}
.base{fill:var(--base)}.over{fill:var(--limit)}.hint{fill:transparent}
.limit{stroke:var(--limit);stroke-width:1.6;fill:none}.limit.session{stroke-dasharray:5 3;stroke-width:1.3}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,290px),1fr));gap:18px 22px;margin:8px 0 18px}
.card{display:flex;flex-direction:column;justify-content:space-between;margin:0;border:1px solid var(--rule);border-radius:10px;padding:10px 12px 6px}
.card figcaption{font-weight:600;font-size:14px}
.card figcaption a{color:inherit;text-decoration:none}
.card .sub{display:block;font-weight:400;font-size:13px;color:var(--soft)}
.card .sub b{color:var(--ink)}
.card svg{display:block;width:100%;height:auto;margin-top:4px}
.wide{margin:14px 0}
.wide svg{display:block;max-width:100%;height:auto}
.instead{display:none}
.glossary{columns:3 340px;column-gap:36px;margin:8px 0;font-size:14px}
.glossary div{break-inside:avoid;padding:0 0 12px}
.glossary dt{font-weight:600}
.glossary dd{margin:0;color:var(--soft)}
:target{background:var(--new)}
section:target{background:none}
[data-hidden]{display:none!important}
footer{margin-top:52px;border-top:1px solid var(--rule);font-size:13px;padding-top:8px}
@media(min-width:1600px){.relation{display:grid;grid-template-columns:auto minmax(0,1fr);gap:0 48px;align-items:start}.relation h3{grid-column:1/-1}}
@media(min-width:1180px){body{display:grid;grid-template-columns:196px minmax(0,1fr);grid-template-rows:auto 1fr auto;column-gap:44px}header,main,footer{grid-column:2}.side{grid-column:1;grid-row:1/span 3}.side nav ul{flex-direction:column;margin:0}.side nav,.side .tools{margin:0}.side{position:sticky;top:28px;align-self:start;display:flex;flex-direction:column;gap:22px}.tools{flex-direction:column;align-items:stretch}.tools label,.tools output{flex:none}}
@media screen and (max-width:1000px){.alert summary{grid-template-columns:16px 96px minmax(0,1fr) minmax(0,1.4fr)}.alert .why{grid-column:3/-1}.alert .since{grid-column:3/-1;font-size:13px}.alert .since .soft{display:inline;margin-left:8px}}
@media(min-width:1280px) and (max-width:1500px){.people th:nth-child(8),.people td:nth-child(8){display:none}.people .chip{margin-top:2px}}
@media screen and (max-width:1279px){table.people,.people thead,.people tbody{display:block}.people thead{position:sticky;top:var(--top);z-index:2;background:var(--paper)}.people thead tr{display:block}.people thead th{display:none}.people thead th.days{display:block;position:static;padding:4px 0;box-shadow:none}.people tbody tr{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:2px 18px;padding:10px 0;border-bottom:1px solid var(--rule)}.people tbody th,.people tbody td{border:0;padding:0;text-align:left;width:auto}.people tbody th{font-size:15px}.people td.days{grid-column:1/-1;width:auto;order:1;padding:2px 0}.people td+td{order:2}.people tbody th{grid-column:span 2}.people td[data-l="highest"],.people td[data-l="open alerts"]{order:0}.people tbody td[data-l]::before{content:attr(data-l) " ";color:var(--soft)}.people td[data-v=""]{display:none}.people td[data-l="baseline"]{grid-column:span 2}}
@media screen and (max-width:900px){table.many,.many tbody,.many td{display:block}.many thead{display:none}.many tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:1px 14px;padding:9px 0;border-bottom:1px solid var(--rule)}.many td{border:0;padding:0;text-align:left!important;max-width:none!important;min-width:0!important}.many td.code,.many td.text{grid-column:1/-1}.many td.share{grid-column:span 2}.many td::before{content:attr(data-l) " ";color:var(--soft);white-space:normal;font:13px/1.5 system-ui,"3oto Sans","DejaVu Sans",Arial,sans-serif}.many td.day{white-space:normal}.many td.empty{display:none}}
@media screen and (max-width:700px){body{padding:18px 16px 40px}h1{font-size:23px}.pair{grid-template-columns:minmax(0,1fr);gap:10px}.behind p{max-width:none}
.behind{padding-left:4px}.alert summary{grid-template-columns:14px minmax(0,1fr) auto;gap:0 8px}.alert .who{grid-column:2;grid-row:1}.alert .severity{grid-column:3;grid-row:1;text-align:right}.alert .what,.alert .why,.alert .since{grid-column:2/-1}.reason summary{grid-template-columns:14px 40px minmax(0,1fr) 92px}.reason summary .soft{display:none}.reason summary span:last-child{grid-column:2/-1;color:var(--soft);font-size:13.5px}.people tbody tr{grid-template-columns:repeat(2,minmax(0,1fr))}.wide svg{display:none}.instead{display:block;color:var(--soft);font-size:14px}table.rows,.rows tbody,.rows td{display:block}.rows thead{display:none}.rows tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1px 14px;padding:9px 0;border-bottom:1px solid var(--rule)}.rows td{border:0;padding:0;text-align:left!important;max-width:none!important;min-width:0!important}.rows td.code,.rows td.text{grid-column:1/-1}.rows td.share{grid-column:span 2}.rows td::before{content:attr(data-l) " ";color:var(--soft);white-space:normal;font:13px/1.5 system-ui,"2oto Sans","DejaVu Sans",Arial,sans-serif}.rows td.day{white-space:normal}.rows td.empty{display:none}.tiles{grid-template-columns:repeat(3,minmax(0,1fr));gap:8px}.tiles li>*{padding:8px 10px}.tiles b{font-size:20px}.tiles span{font-size:12.5px;line-height:1.3;display:block}}
@media print{@page{margin:14mm 12mm}body{display:block;max-width:none;padding:0;font-size:10.5px}h1{font-size:20px}h2{font-size:15px;line-height:22px;padding:4px 0}h3{font-size:12px;margin:14px 0 4px}main p,main th,main td,main summary,main summary span,main pre,main dd,main dt,main h4,main time,.legend,.card .sub,.axis{font-size:9.5px!important}.chip{font-size:8.5px!important;line-height:14px}.side,th button{display:none}h2,h3.stick,thead th{position:static}section{margin-top:16px}.tiles{grid-template-columns:repeat(6,1fr)}.tiles b{font-size:16px}.tiles li>*{padding:6px 8px}.cards{grid-template-columns:repeat(3,1fr);gap:8px}.card{padding:6px 8px 2px}.alert summary{grid-template-columns:64px 96px minmax(0,1fr) minmax(0,1.5fr) 104px;gap:2px 12px;padding:6px 0}.alert[open] summary::before,.reason[open] summary::before,.alert summary::before,.reason summary::before{content:none}.wide svg{max-width:62%}.reason summary{grid-template-columns:30px 110px 64px 44px minmax(0,1fr);padding:4px 0}.behind{padding:2px 0 10px}.pair>div{padding:6px 10px}.pair pre{line-height:1.35}th,td{padding:3px 10px 3px 0}.people td.days{width:34%}.people tbody th{min-width:90px}.people .number{width:44px;min-width:0}.people .dates{width:64px;min-width:0}.bar{width:60px}.card,.reason,tr,figure,.pair>div{break-inside:avoid}h2,h3,thead,summary{break-after:avoid}.alert::details-content{display:block;content-visibility:visible;height:auto}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}a{color:inherit;text-decoration:none}.glossary{columns:2}}
)";

}  // namespace privacy_score
