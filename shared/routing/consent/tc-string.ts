import { Bits } from './bits.ts';

/** A visitor's consent in a string of the Transparency and Consent Framework. */
export type TcConsent = {
  readonly purposes: ReadonlySet<number>;
  readonly vendors: ReadonlySet<number>;
  /** Purposes of the publisher's own segment; undefined without that segment. */
  readonly publisherPurposes: ReadonlySet<number> | undefined;
};

/** Maximum length of a consent string: five times the length of a string with every vendor. */
export const consentStringCharactersMax = 8_192;

// Positions in the core segment: github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework,
// "Consent string and vendor list formats v2".
const version = { at: 0, bits: 6 };
const purposes = { at: 152, count: 24 };
const vendorIdMax = { at: 213, bits: 16 };
const isRangesAt = 229;
const vendorsAt = 230;
const publisherSegment = 3;
const segmentType = { at: 0, bits: 3 };

/** Reads a TC string of version 2. Throws RangeError for any other text. */
export function readTcString(text: string): TcConsent {
  if (text.length > consentStringCharactersMax) throw new RangeError('the consent string is too long');
  const [core = '', ...segments] = text.split('.').map((segment) => new Bits(segment));
  if (typeof core === 'string' || core.number(version.at, version.bits) !== 2) throw new RangeError('not version 2');
  const publisher = segments.find((bits) => bits.number(segmentType.at, segmentType.bits) === publisherSegment);
  return {
    purposes: core.set(purposes.at, purposes.count),
    vendors: readVendors(core),
    publisherPurposes: publisher?.set(segmentType.bits, purposes.count),
  };
}

function readVendors(core: Bits): Set<number> {
  const idMax = core.number(vendorIdMax.at, vendorIdMax.bits);
  if (!core.at(isRangesAt)) return core.set(vendorsAt, idMax);
  const vendors = new Set<number>();
  let at = vendorsAt + 12;
  let before = 0;
  for (let entries = core.number(vendorsAt, 12); entries > 0; entries -= 1) {
    const isRange = core.at(at);
    const first = core.number(at + 1, 16);
    const last = isRange ? core.number(at + 17, 16) : first;
    if (first <= before || last > idMax) throw new RangeError('ranges of vendors overlap or exceed the highest id');
    before = last;
    for (let id = first; id <= last; id += 1) vendors.add(id);
    at += isRange ? 33 : 17;
  }
  return vendors;
}
