import { GppModel, Sections } from '@iabgpp/cmpapi';
import { gppOptOuts } from '../../contracts/events/consent-words.ts';
import type { GppOptOut } from '../../contracts/events/consent-words.ts';
import { Bits } from './bits.ts';
import { consentStringCharactersMax } from './tc-string.ts';

export type GppAnswers = {
  readonly optOuts: ReadonlySet<GppOptOut>;
  /** Whether a section contains the browser's Global Privacy Control. */
  readonly gpc: boolean;
  /** The TC string of the European section. */
  readonly tcString: string | undefined;
};

const europe = 2;
const usPrivacy = 6;
const fieldOf: Readonly<Record<GppOptOut, string>> = {
  saleOptOut: 'SaleOptOut',
  sharingOptOut: 'SharingOptOut',
  targetedAdvertisingOptOut: 'TargetedAdvertisingOptOut',
};
const optedOut = 1;

/**
 * Reads a string of the Global Privacy Platform: the applicable sections, or all if `applicable` is empty
 * (github.com/InteractiveAdvertisingBureau/Global-Privacy-Platform). Throws for any other text.
 */
export function readGppString(text: string, applicable: ReadonlySet<number>): GppAnswers {
  if (text.length > consentStringCharactersMax) throw new RangeError('the consent string is too long');
  const [header = '', ...sections] = text.split('~');
  const ids = readHeader(header);
  if (ids.length === 0 || sections.length !== ids.length) throw new RangeError('sections are missing');
  const model = new GppModel(text);
  const optOuts = new Set<GppOptOut>();
  let gpc = false;
  let tcString: string | undefined;
  for (const [index, id] of ids.entries()) {
    if (applicable.size > 0 && !applicable.has(id)) continue;
    if (id === europe) tcString = sections[index];
    else if (id === usPrivacy && isUsPrivacyOptOut(sections[index] ?? '')) optOuts.add('saleOptOut');
    else if (id > usPrivacy) {
      // Decodes only the needed fields, which have fixed lengths.
      const name = Sections.SECTION_ID_NAME_MAP.get(id);
      // The library does not know the section yet.
      if (name === undefined) throw new RangeError(`section ${id} is not known`);
      const section = model.getSection(name) as Readonly<Record<string, unknown>>;
      for (const optOut of gppOptOuts) if (section[fieldOf[optOut]] === optedOut) optOuts.add(optOut);
      gpc ||= section['Gpc'] === true;
    }
  }
  return { optOuts, gpc, tcString };
}

/** Limits that are above the number of sections and the ids that the platform defines. */
const sectionsMax = 64;
const sectionIdMax = 1_000;

/** The ids of the sections. Refuses long ranges before the library reads them, since it would list all their ids. */
function readHeader(text: string): readonly number[] {
  const bits = new Bits(text);
  if (bits.number(0, 6) !== 3 || bits.number(6, 6) !== 1) throw new RangeError('not a GPP string of version 1');
  const ids: number[] = [];
  let [at, last] = [24, 0];
  const next = (): number => {
    const read = fibonacciNumber(bits, at);
    at = read.end;
    last += read.value;
    return last;
  };
  for (let entries = bits.number(12, 12); entries > 0; entries -= 1) {
    const isRange = bits.at(at);
    at += 1;
    const first = next();
    const end = isRange ? next() : first;
    if (end > sectionIdMax || ids.length + end - first >= sectionsMax) throw new RangeError('too many sections');
    for (let id = first; id <= end; id += 1) ids.push(id);
  }
  return ids;
}

/** A number in Fibonacci coding, which ends with two ones. */
function fibonacciNumber(bits: Bits, start: number): { readonly value: number; readonly end: number } {
  let [value, one, two] = [0, 1, 2];
  for (let at = start; ; at += 1) {
    if (bits.at(at)) value += one;
    [one, two] = [two, one + two];
    if (bits.at(at) && bits.at(at + 1)) return { value, end: at + 2 };
    if (value > sectionIdMax) throw new RangeError('the id of a section is too large');
  }
}

/** Whether a US Privacy string such as `1YYN` opts out of sale. Throws for any other text. */
export function isUsPrivacyOptOut(text: string): boolean {
  if (!/^1[YN-]{3}$/i.test(text)) throw new RangeError('not a US Privacy string');
  return text[2]?.toUpperCase() === 'Y';
}

/** Ids of sections from a number, a list, or a text such as `7_8` or `7,8`. Throws for anything else. */
export function readSectionIds(value: unknown): ReadonlySet<number> {
  const given = typeof value === 'string' ? value.split(/[_,\s]/) : [value].flat();
  const ids = given.filter((id) => id !== undefined).map(Number);
  if (ids.some((id) => !Number.isInteger(id))) throw new RangeError('not ids of sections');
  // -1, 0, null and an empty text name no section.
  return new Set(ids.filter((id) => id !== -1 && id !== 0));
}
