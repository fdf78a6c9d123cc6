/** The two-letter code, in lower case, of a state or territory of the USA by its name (letters only, lower case). */
export function usStateCode(name: string): string | undefined {
  return codeOfName.get(name);
}

// ANSI INCITS 38 (the two-letter codes of the postal service), with the name of each.
const states = `
  al alabama, ak alaska, az arizona, ar arkansas, ca california, co colorado, ct connecticut, de delaware,
  dc districtofcolumbia, dc washingtondc, fl florida, ga georgia, hi hawaii, id idaho, il illinois, in indiana, ia iowa,
  ks kansas, ky kentucky, la louisiana, me maine, md maryland, ma massachusetts, mi michigan, mn minnesota,
  ms mississippi, mo missouri, mt montana, ne nebraska, nv nevada, nh newhampshire, nj newjersey, nm newmexico,
  ny newyork, nc northcarolina, nd northdakota, oh ohio, ok oklahoma, or oregon, pa pennsylvania, ri rhodeisland,
  sc southcarolina, sd southdakota, tn tennessee, tx texas, ut utah, vt vermont, va virginia, wa washington,
  wv westvirginia, wi wisconsin, wy wyoming, as americansamoa, gu guam, mp northernmarianaislands, pr puertorico,
  vi virginislands, vi usvirginislands`;

const codeOfName: ReadonlyMap<string, string> = new Map(
  states.split(',').map((entry) => {
    const [code = '', name = ''] = entry.trim().split(' ');
    return [name, code];
  }),
);
