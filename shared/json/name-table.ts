import { standsAt } from './scan-json.ts';

/**
 * Values by name, found by the bytes of the name: a lookup creates no string, and compares only names of the same
 * length.
 */
export class NameTable<Value> {
  readonly #byLength: Named<Value>[][] = [];
  /** 1 for each byte with which a name begins: most lookups end here, because no name begins with their first byte. */
  readonly #firsts = new Uint8Array(256);

  constructor(entries: Iterable<readonly [name: string, value: Value]> = []) {
    for (const [name, value] of entries) this.add(Buffer.from(name), value);
  }

  /** Adds a name that the table does not contain yet. */
  add(name: Uint8Array, value: Value): void {
    while (this.#byLength.length <= name.length) this.#byLength.push([]);
    this.#byLength[name.length]?.push({ name, value });
    this.#firsts[name[0] ?? 0] = 1;
  }

  /** The value of the name at bytes[start, end); undefined if the table does not contain the name. */
  find(bytes: Uint8Array, start: number, end: number): Value | undefined {
    if (this.#firsts[bytes[start] ?? 0] === 0) return undefined;
    const candidates = this.#byLength[end - start];
    if (candidates === undefined) return undefined;
    for (let i = 0; i < candidates.length; i += 1) {
      const candidate = candidates[i];
      if (candidate !== undefined && standsAt(bytes, start, candidate.name)) return candidate.value;
    }
    return undefined;
  }
}

type Named<Value> = { readonly name: Uint8Array; readonly value: Value };
