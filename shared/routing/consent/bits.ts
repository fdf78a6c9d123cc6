/** The bits of a base64url text, the highest bit of each character first. Throws RangeError for any other character. */
export class Bits {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    for (const character of text) {
      if (!digits.has(character)) throw new RangeError('not base64url');
    }
  }

  /** The bit at index `place`. Throws RangeError past the end. */
  at(place: number): boolean {
    const digit = digits.get(this.#text[Math.floor(place / digitBits)] ?? '');
    if (digit === undefined) throw new RangeError('the text ends too early');
    return ((digit >> (digitBits - 1 - (place % digitBits))) & 1) === 1;
  }

  /** The unsigned number in the `length` bits from `place`. */
  number(place: number, length: number): number {
    let value = 0;
    for (let bit = place; bit < place + length; bit += 1) value = value * 2 + (this.at(bit) ? 1 : 0);
    return value;
  }

  /** Numbers, from 1, of the bits that are set among the `length` bits from `place`. */
  set(place: number, length: number): Set<number> {
    const found = new Set<number>();
    for (let bit = 0; bit < length; bit += 1) if (this.at(place + bit)) found.add(bit + 1);
    return found;
  }
}

const digitBits = 6;
const digits: ReadonlyMap<string, number> = new Map(
  Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', (digit, value) => [digit, value]),
);
