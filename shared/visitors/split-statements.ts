import { bitOfProperty, signedInBit } from './server-set.ts';

/** Properties that are merged member by member. */
const nestedNames = `'{custom_properties,consent,click_ids}'::text[]`;

type Objects = { readonly current: string; readonly merged: string; readonly before: string };

/**
 * SQL: the members of an object after a merge is undone. A member with the value that the merge gave it gets its
 * previous value; a member that was written since stays. `current`, `merged` and `before` are expressions for the
 * object now, after the merge and before it. `written` is an expression for the value of a member that was written
 * since; `p` is the prefix of aliases, which `written` may use.
 */
const membersBefore = ({ current, merged, before }: Objects, p: string, written: string): string => `(
  select coalesce(jsonb_object_agg(${p}_value.key, ${p}_value.value) filter (where ${p}_value.value is not null), '{}')
  from (
    select ${p}_key.key,
      case when ${p}.current is not distinct from ${p}.merged then ${p}.before else ${written} end as value
    from (
      select jsonb_object_keys(${current}) union select jsonb_object_keys(${merged})
      union select jsonb_object_keys(${before})
    ) ${p}_key (key)
    cross join lateral (
      select ${current} -> ${p}_key.key as current, ${merged} -> ${p}_key.key as merged,
        ${before} -> ${p}_key.key as before
    ) ${p}
  ) ${p}_value
)`;

const isObject = (value: string): string => `jsonb_typeof(${value}) = 'object'`;

const beforeNested = `coalesce(outside.before, '{}')`;
const nested = { current: 'outside.current', merged: 'outside.merged', before: beforeNested };

const propertiesBefore = membersBefore(
  { current: 'v.properties', merged: 'm.merged_properties', before: 'm.survivor_properties' },
  'outside',
  `case
    when outside_key.key = any(${nestedNames})
      and ${Object.values(nested).map(isObject).join(' and ')}
    then nullif(
      ${membersBefore(nested, 'inside', 'inside.current')},
      case when outside.before is null then '{}'::jsonb end
    )
    else outside.current
  end`,
);

/** Bits of properties that still have the value that the merge gave them. */
const bitsAsMerged = Object.entries(bitOfProperty)
  .map(
    ([name, bit]) =>
      `case when v.properties -> '${name}' is not distinct from m.merged_properties -> '${name}' then ${bit} else 0 end`,
  )
  .join(' | ');

/** The newest 100 ids of undone merges. */
const newest = (ids: string): string => `array(select id from (${ids}) a (id) order by id desc limit 100)`;

/** `$1`: the account, `$2`: the survivor, `$3`: the merge. Writes nothing if the survivor is an alias. */
export const restoreSurvivor = `
  update visitors v set
    properties = ${propertiesBefore},
    set_by_server = v.set_by_server
      & ~(m.loser_set_by_server & ~m.survivor_set_by_server & (${bitsAsMerged}))::smallint,
    apart = ${newest(`
      (select unnest(v.apart) except (select unnest(l.apart) except select unnest(m.survivor_apart)))
      union (select unnest(l.apart) intersect select unnest(m.survivor_apart))
      union select m.id`)},
    external_ids = greatest(0, v.external_ids - l.external_ids),
    emails = greatest(0, v.emails - l.emails),
    aliases = greatest(0, v.aliases - l.aliases - 1),
    updated_at = case when v.properties = m.merged_properties then m.survivor_updated_at else v.updated_at end,
    version = v.version + 1
  from visitor_merges m
  join visitors l on l.account_id = m.account_id and l.id = m.loser
  where m.account_id = $1 and m.id = $3 and v.account_id = $1 and v.id = $2 and v.merged_into is null
  returning v.properties`;

/** `$1`: the account, `$2`: the loser, `$3`: the merge. */
export const restoreLoser = `
  update visitors v set
    properties = m.loser_properties,
    property_times = m.loser_times,
    merged_into = null, joined_to = null,
    set_by_server = ((m.loser_set_by_server & ~${signedInBit}) | (v.set_by_server & ${signedInBit}))::smallint,
    apart = ${newest('select unnest(v.apart) union select m.id')},
    updated_at = m.loser_updated_at,
    version = v.version + 1
  from visitor_merges m
  where m.account_id = $1 and m.id = $3 and v.account_id = $1 and v.id = $2 and v.merged_into is not null`;

/**
 * `$1`: the account, `$2`: the loser. Aliases that led to the loser before their chains were shortened lead to it
 * again, through the same rows as then (`joined_to`).
 */
export const restoreAliases = `
  with recursive under (id) as (
    select $2::text
    union
    select v.id from under u
    cross join lateral (
      select id from visitors where account_id = $1 and joined_to = u.id
      union all
      select id from visitors where account_id = $1 and merged_into = u.id and joined_to is null
      offset 0
    ) v
  ),
  passed as materialized (
    select v.id from under u join visitors v on v.account_id = $1 and v.id = u.id
    where v.joined_to is not null and v.id <> $2
    order by v.id for update of v
  )
  update visitors v set merged_into = v.joined_to, joined_to = null, version = v.version + 1
  from passed p where v.account_id = $1 and v.id = p.id`;
