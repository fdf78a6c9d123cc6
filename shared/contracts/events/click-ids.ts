import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** Parameters that ad platforms and affiliate networks add to the address that a click on one of their ads leads to. */
export const clickParameters = [
  'fbclid',
  'gclid',
  'gbraid',
  'wbraid',
  'dclid',
  'msclkid',
  'ttclid',
  'twclid',
  'li_fat_id',
  'ScCid',
  'sccid',
  'epik',
  'rdt_cid',
  'qclid',
  'ndclid',
  'oppref',
  'rtid',
  'rclid',
  'tblci',
  'dicbo',
  'irclickid',
  'im_ref',
  'ttdclid',
  'aleid',
  'admitad_uid',
  'clickref',
  '_ef_transaction_id',
  'ef_transaction_id',
  'postback_id',
  'postbackid',
  'auction_id',
  'bw_auction_id',
  'rokt_tracking_id',
  'ttd_click_id',
  'impact_cid',
  'outbrain_cid',
  'taboola_cid',
] as const;

/** Cookies that ad platforms set on their customers' pages, to recognise a browser or to store a click. */
export const clickCookies = [
  '_fbc',
  '_fbp',
  'fbc',
  'fbp',
  '_ttp',
  'ttp',
  '_epik',
  '_scid',
  'sc_cookie1',
  '_uetvid',
  '_uetmsclkid',
  '_rdt_uuid',
  'rdt_uuid',
  '_qclid',
  '_ndclid',
  '__oppref',
  '_axeid',
  '_axart',
  '_axwrt',
] as const;

/**
 * The visitor property with the ids of ad clicks: the last id of each name, and when it was first seen. A purchase
 * usually has no click id itself, but the visitor's landing page had one.
 */
export const clickIdsProperty = 'click_ids';

/** An id of a click or of a browser, and the time of the first event with it, in ms since the epoch. */
export type ClickId = { readonly id: string; readonly at: number };

const idCharactersMax = 500;

/** Matches a query, or a URL with a query, that may contain a click parameter. */
export const mayHaveClick = new RegExp(`(?:^|[?&])(?:${clickParameters.join('|')})=`);

/** Names under which an event's context contains ids. */
export const clickIdNames: ReadonlySet<string> = new Set([...clickParameters, ...clickCookies]);

/** The ids in an event's context and its `current_url`, by name; undefined if there are none. */
export function clickIdsIn(context: JsonObject, atMs: number): Readonly<Record<string, ClickId>> | undefined {
  let found: Record<string, ClickId> | undefined;
  const add = (name: string, id: unknown): void => {
    if (typeof id !== 'string' || id === '' || id.length > idCharactersMax) return;
    found ??= {};
    found[name] ??= { id, at: Math.floor(atMs) };
  };
  for (const name of Object.keys(context)) if (clickIdNames.has(name)) add(name, context[name]);
  const { current_url: url } = context;
  if (typeof url === 'string' && mayHaveClick.test(url) && URL.canParse(url)) {
    const { searchParams } = new URL(url);
    for (const name of clickParameters) add(name, searchParams.get(name));
  }
  return found;
}

/**
 * Returns the visitor's ids after an event: the last id of each name, and when it was first seen. Returns the same
 * object if nothing changes.
 */
export function mergeClickIds(current: unknown, given: JsonObject): JsonObject {
  const before = isJsonObject(current) ? current : {};
  let next: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(given)) {
    const known = readClickId(before[name]);
    const added = readClickId(value);
    if (added === undefined || known?.id === added.id || (known !== undefined && known.at > added.at)) continue;
    next ??= { ...before };
    next[name] = added;
  }
  return next ?? before;
}

/** Reads a stored id; undefined for any other value, because clients may set a visitor's properties to anything. */
export function readClickId(value: unknown): ClickId | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, at } = value;
  return typeof id === 'string' && id !== '' && typeof at === 'number' ? { id, at } : undefined;
}
