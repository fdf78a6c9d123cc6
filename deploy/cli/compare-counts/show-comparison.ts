import type { Compared, Remark } from './compare-counts.ts';

/** The counts of both sides, one line per name and day, and possible explanations of the differences. */
export function showComparison(compared: readonly Compared[], remarks: readonly Remark[]): string {
  const width = Math.max(5, ...compared.map(({ event }) => event.length));
  const rows = compared.map((one) =>
    [one.day, one.event.padEnd(width), number(one.theirs), number(one.ours), describeVerdict(one)].join('  '),
  );
  const header = ['day       ', 'event'.padEnd(width), 'there'.padStart(digits), 'here'.padStart(digits)].join('  ');
  const hints = [...new Set(compared.flatMap(hintsOf))];
  return [
    header,
    ...rows,
    '',
    ...remarks.map(describeRemark),
    ...hints,
    ...(remarks.length + hints.length === 0 ? [] : ['']),
    describeTotal(compared),
    '',
  ].join('\n');
}

const digits = 9;
const number = (value: number): string => String(value).padStart(digits);

function describeVerdict({ verdict, theirs, ours, isSampled }: Compared): string {
  const about = isSampled ? 'about ' : '';
  switch (verdict) {
    case 'same':
      return isSampled ? 'agrees, as far as a sample shows' : 'agrees';
    case 'fewer':
      return `${about}${theirs - ours} fewer here (${percent(theirs - ours, theirs)})`;
    case 'more':
      return `${about}${ours - theirs} more here (${percent(ours - theirs, theirs)})`;
    case 'only-there':
      return 'none here';
    case 'only-here':
      return 'none there';
    case 'partial':
      return 'not compared: this side does not have the whole day';
  }
}

const percent = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(1)} %`;

/** Possible causes of a kind of difference; empty if no cause is known. */
function hintsOf({ verdict, isSampled }: Compared): readonly string[] {
  const sampled = isSampled
    ? ['Our side kept a sample of busy seconds: set RECENT_EVENTS_PER_S_MAX higher to count them all.']
    : [];
  return [...sampled, ...hints[verdict]];
}

const hints: Readonly<Record<Compared['verdict'], readonly string[]>> = {
  same: [],
  fewer: [
    'Fewer here: events without a name or with an id that is too long are left out (result="invalid" of ' +
      'sluice_gateway_events_total), and an id that occurs twice counts once.',
  ],
  more: ['More here: events without an id that are sent again count again; or the other side left some out.'],
  'only-there': [
    'None here: a name that is not in allowedEvents is dropped once any is published; or its sender still sends to the other address.',
  ],
  'only-here': ['None there: its sender sends to this address only, or the export leaves the name out.'],
  partial: [
    'Days not compared: this side counts events in the view of recent events, for whole past days (UTC). RECENT_EVENTS_AGE_MS and RECENT_EVENTS_MAX limit how far back it goes.',
  ],
};

function describeRemark(remark: Remark): string {
  switch (remark.kind) {
    case 'other-days':
      return `${remark.event}: all days together agree. The two sides divide days at different hours, or use different times of an event.`;
    case 'other-spelling':
      return `"${remark.theirs}" there looks like "${remark.ours}" here: names are compared as they are written.`;
  }
}

function describeTotal(compared: readonly Compared[]): string {
  const whole = compared.filter(({ verdict }) => verdict !== 'partial');
  const same = whole.filter(({ verdict }) => verdict === 'same').length;
  if (whole.length === 0) return 'Nothing could be compared: this side does not have one whole day of the export.';
  return same === whole.length ? `All ${same} agree.` : `${same} of ${whole.length} agree.`;
}
