import type { Work } from '../values/work.ts';

export type Holder = Record<string, unknown>;

/** The place of a value: the object or list that contains it, and its name or index there. */
export type Place = { readonly holder: Holder; readonly name: string; readonly value: unknown };

export type Found = {
  readonly places: readonly Place[];
  /** Whether the path leads to no value, or an object in a list lacks the value. */
  readonly isMissing: boolean;
};

/** Finds the values at a path. */
export type FindPlaces = (holder: unknown, work: Work) => Found;

const isIndex = /^\d+$/;

/**
 * Compiles a path. It needs no index for a list: `products.price` is the price of each product. It also finds names
 * that contain dots: `{"a.b": 1}` at `a.b`. If several names fit, all of them are followed.
 */
export function compileFindPlaces(names: readonly string[]): FindPlaces {
  /** Joined names from one segment up to another: `joined[from][to - from]`. */
  const joined = names.map((_, from) =>
    names.slice(from).map((__, length) => names.slice(from, from + length + 1).join('.')),
  );
  return (holder, work) => {
    const places: Place[] = [];
    let isMissing = false;
    /** Follows the path from a value; returns whether it continues there. */
    const walk = (value: unknown, from: number): boolean => {
      work.spend(1);
      if (typeof value !== 'object' || value === null) return false;
      const members = value as Holder;
      if (Array.isArray(value)) {
        const name = names[from] ?? '';
        // An index names one item: no other item of the list needs the rest of the path.
        const isAt = isIndex.test(name) && Object.hasOwn(value, name);
        for (const item of value) {
          if (typeof item === 'object' && item !== null && !walk(item, from) && !isAt) isMissing = true;
        }
        return isAt ? step(members, name, from) : true;
      }
      let leadsOn = false;
      for (const [offset, name] of (joined[from] ?? []).entries()) {
        if (step(members, name, from + offset)) leadsOn = true;
      }
      return leadsOn;
    };
    const step = (members: Holder, name: string, to: number): boolean => {
      if (!Object.hasOwn(members, name)) return false;
      const value = members[name];
      if (to < names.length - 1) return walk(value, to + 1);
      places.push({ holder: members, name, value });
      return true;
    };
    if (!walk(holder, 0)) isMissing = true;
    return { places, isMissing };
  };
}
