import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { noReads } from './visitor-reads.ts';
import type { VisitorReads } from './visitor-reads.ts';

/** The member that a shortened visitor gets: the number of properties that were left out. */
export const leftOutKey = '$left_out';

/** Most destinations read these, so they come first. */
const firstNames: readonly string[] = ['consent', 'external_id', 'email'];

/**
 * Keeps all properties that rules read, whatever their size, and as many other whole properties as fit; members of
 * custom_properties come last, one by one. Returns the same object if nothing is left out.
 */
export function cutVisitor(
  properties: VisitorProperties,
  bytesMax: number,
  reads: VisitorReads = noReads,
): VisitorProperties {
  if (reads.isAll) return properties;
  const { custom_properties: custom, ...own } = properties.value;
  const rest = Object.entries(own).filter(([name]) => !firstNames.includes(name));
  const first = firstNames.flatMap((name) => (Object.hasOwn(own, name) ? [[name, own[name]] as const] : []));
  const members = isJsonObject(custom) ? Object.entries(custom) : [];
  // The braces, and the names of the two added members.
  let left = bytesMax - '{"custom_properties":{},"$left_out":00000}'.length;
  let leftOut = 0;
  const bytesOf = ([name, member]: readonly [string, unknown]): number =>
    Buffer.byteLength(JSON.stringify({ [name]: member }));
  for (const entry of [...first, ...rest]) if (reads.own.has(entry[0])) left -= bytesOf(entry);
  for (const entry of members) if (reads.custom.has(entry[0])) left -= bytesOf(entry);
  const keep = (entries: readonly (readonly [string, unknown])[], read: ReadonlySet<string>): JsonObject => {
    const kept: (readonly [string, unknown])[] = [];
    for (const entry of entries) {
      const bytes = read.has(entry[0]) ? 0 : bytesOf(entry);
      if (bytes > Math.max(0, left)) leftOut += 1;
      else {
        left -= bytes;
        kept.push(entry);
      }
    }
    return Object.fromEntries(kept);
  };
  const kept = { ...keep([...first, ...rest], reads.own), custom_properties: keep(members, reads.custom) };
  return leftOut === 0 ? properties : new VisitorProperties({ ...kept, [leftOutKey]: leftOut });
}
