import { Type } from 'typebox';
import { maskValue } from '../../shared/routing/tracking-plan/describe-hit.ts';
import { masksValues } from '../account/endpoints.ts';
import { badRequest, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { hasScope } from '../keys/scopes.ts';

const viewsMax = 100;
const queryCharsMax = 2_000;

const name = Type.String({ minLength: 1, maxLength: 100, description: 'Unique in the account.' });
const savedView = Type.Object({
  name,
  query: Type.String({ description: 'Filters as the query string of the event list.' }),
  savedAt: Type.String({ format: 'date-time' }),
});

type Row = { readonly name: string; readonly query: string; readonly savedAt: Date };
const view = ({ savedAt, ...row }: Row) => ({ ...row, savedAt: savedAt.toISOString() });

/** The filters of a view, with the value that they search for masked. */
function maskQuery(query: string): string {
  const filters = new URLSearchParams(query);
  const value = filters.get('value');
  if (value === null) return query;
  // Replaces every `value`.
  filters.set('value', maskValue(value));
  return String(filters);
}

const columns = 'name, query, saved_at as "savedAt"';

/**
 * Named filters of the event list, which all keys and users of the account share: they are changed by those who may also
 * retry events.
 */
export const savedViewEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/event-views',
    scope: 'event:list',
    id: 'listEventViews',
    tag: 'Events',
    summary:
      `List the saved views of the event list by name, ${viewsMax} at most. The value that a view searches for is masked ` +
      'for keys without `pii:read` if the account masks personal data',
    reply: Type.Object({ entities: Type.Array(savedView) }),
    async handle({ principal }, { pool, storage }) {
      const { rows } = await pool.query<Row>(
        `select ${columns} from saved_views where account_id = $1 order by name limit ${viewsMax}`,
        [principal.accountId],
      );
      const isMasked =
        !hasScope(principal.scopes, 'pii:read') && (await masksValues(storage.fork(), principal.accountId));
      return { entities: rows.map((row) => view(isMasked ? { ...row, query: maskQuery(row.query) } : row)) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/event-views',
    scope: 'destination:update',
    id: 'saveEventView',
    tag: 'Events',
    summary: 'Save filters of the event list under a name; one of the same name is replaced',
    body: Type.Object(
      {
        name,
        query: Type.String({
          maxLength: queryCharsMax,
          description: 'As in the event list, such as `outcome=rejected`.',
        }),
      },
      { additionalProperties: false },
    ),
    reply: savedView,
    async handle({ body, principal }, { pool }) {
      // The account's row is locked, so that two concurrent requests cannot exceed the limit together.
      const { rows } = await pool.query<Row>(
        `with account as materialized (select id from accounts where id = $1 for no key update),
          room as (select count(*) < ${viewsMax} or bool_or(v.name = $2) as has_room
            from account left join saved_views v on v.account_id = account.id)
        insert into saved_views (account_id, name, query) select $1, $2, $3 from room where has_room
        on conflict (account_id, name) do update set query = excluded.query, saved_at = now()
        returning ${columns}`,
        [principal.accountId, body.name, body.query],
      );
      const [row] = rows;
      if (row === undefined) throw badRequest(`an account can have at most ${viewsMax} saved views: delete one`);
      return view(row);
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/event-views/{name}',
    scope: 'destination:update',
    id: 'deleteEventView',
    tag: 'Events',
    summary: 'Delete a saved view of the event list',
    reply: Type.Object({ deleted: Type.Boolean() }),
    async handle({ params, principal }, { pool }) {
      const { rowCount } = await pool.query('delete from saved_views where account_id = $1 and name = $2', [
        principal.accountId,
        params.name,
      ]);
      await found(Promise.resolve(rowCount === 0 ? undefined : true), 'saved view');
      return { deleted: true };
    },
  }),
];
