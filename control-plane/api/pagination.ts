import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import type { TArray, TObject, TSchema } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { canonical } from '../store/text.ts';
import { badRequest } from './api-error.ts';

export const pageLimits = { default: 25, max: 100 } as const;

/** Query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      default: pageLimits.default,
      description: 'Entities per page. Values below 1 become 1, values above 100 become 100.',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'pagination.nextCursor of the previous page, unchanged.' })),
};

export type PageQuery = { readonly limit?: number; readonly cursor?: string };

/** Reply of a list of `entity`. */
export function pageOf<Entity extends TSchema>(
  entity: Entity,
): TObject<{ entities: TArray<Entity>; pagination: TObject }> {
  return Type.Object({
    entities: Type.Array(entity),
    pagination: Type.Object({ nextCursor: nullable(Type.String()), hasMore: Type.Boolean() }),
  });
}

export type Page<Entity> = {
  readonly entities: readonly Entity[];
  readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
};

/** The list that a cursor belongs to; every other list refuses the cursor. */
export type ListIdentity = {
  readonly list: string;
  readonly accountId: string;
  readonly filters: Readonly<Record<string, unknown>>;
};

/** The position at which a page starts: the sort values of the last entity before the page. */
export type Position = readonly (string | number)[];

export type Paginator = {
  /**
   * The requested page size, and the position of the cursor. Throws a 400 for a cursor that was changed or belongs to
   * another list.
   */
  read(query: PageQuery, list: ListIdentity): { readonly limit: number; readonly after: Position | undefined };
  /** Builds a page from up to `limit` + 1 rows; the last row only shows that another page follows. */
  page<Row, Entity>(
    list: ListIdentity,
    limit: number,
    rows: readonly Row[],
    position: (row: Row) => Position,
    view: (row: Row) => Entity,
  ): Page<Entity>;
  /** Builds a page of all given entities; if `next` is set, the next page begins after that position. */
  pageUpTo<Entity>(list: ListIdentity, entities: readonly Entity[], next: Position | undefined): Page<Entity>;
};

type Sign = (list: ListIdentity, position: string) => string;

/**
 * Cursors are signed with a key derived from `secretsKey`, so every control plane reads the cursors of the others. Cursors
 * signed with one of `others` are read too, so that a list continues while keys are rotated.
 */
export function createPaginator(secretsKey: string, ...others: readonly string[]): Paginator {
  const sign = signWith(secretsKey);
  const signs = [sign, ...others.map(signWith)];
  const pageUpTo: Paginator['pageUpTo'] = (list, entities, next) => {
    const text = JSON.stringify(next);
    const nextCursor = next === undefined ? null : `${Buffer.from(text).toString('base64url')}.${sign(list, text)}`;
    return { entities, pagination: { nextCursor, hasMore: next !== undefined } };
  };
  return {
    read({ limit, cursor }, list) {
      const clamped = Math.min(Math.max(limit ?? pageLimits.default, 1), pageLimits.max);
      return { limit: clamped, after: cursor === undefined ? undefined : open(cursor, list, signs) };
    },
    page(list, limit, rows, position, view) {
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      return pageUpTo(list, shown.map(view), last === undefined ? undefined : position(last));
    },
    pageUpTo,
  };
}

function signWith(secretsKey: string): Sign {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(secretsKey, 'base64'), '', 'sluice list cursors', 32));
  return (list, position) => {
    const bound = JSON.stringify([list.list, list.accountId, canonical(list.filters), position]);
    return createHmac('sha256', key).update(bound).digest('base64url');
  };
}

function open(cursor: string, list: ListIdentity, signs: readonly Sign[]): Position {
  const [encoded = '', signature = ''] = cursor.split('.', 2);
  const text = Buffer.from(encoded, 'base64url').toString('utf8');
  const wanted = signs.map((sign) => `${Buffer.from(text).toString('base64url')}.${sign(list, text)}`);
  if (signature === '' || !wanted.some((one) => sameText(cursor, one))) {
    throw badRequest('cursor must be the nextCursor of this list, with the same filters, unchanged');
  }
  return JSON.parse(text) as Position;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
