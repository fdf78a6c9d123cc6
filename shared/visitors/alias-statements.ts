/**
 * A merge writes one row: the younger visitor points at the older one (`merged_into`), and rows that point at the
 * younger one stay unchanged. So an id leads to its visitor over a chain of rows, and a visitor is the root of a tree
 * of ids. Chains always lead from younger to older visitors: there are no loops.
 */

/** Maximum number of rows of one chain, or ids of one tree, that a statement reads. */
export const aliasesMax = 1_000;

/**
 * The text of a query for a visitor and the visitors that it was merged into, in this order, with `id`, `merged_into`
 * and `hop`. The arguments are SQL expressions; in a lateral query they may be columns of the outer query.
 * `forceIndexScans` explains `offset 0`.
 */
export const selectChain = (accountId: string, id: string): string => `
  with recursive chain (id, merged_into, hop) as (
    select v.id, v.merged_into, 0 from visitors v where v.account_id = ${accountId} and v.id = ${id}
    union all
    select s.id, s.merged_into, c.hop + 1
    from chain c
    cross join lateral (select * from visitors s where s.account_id = ${accountId} and s.id = c.merged_into offset 0) s
    where c.hop < ${aliasesMax}
  )
  select id, merged_into, hop from chain`;

/**
 * The text of a query for the `id` of a visitor and of at most `aliasesMax` visitors merged into it, the nearest first.
 */
export const selectCluster = (accountId: string, id: string): string => `
  with recursive cluster (id) as (
    select ${id}::text
    union all
    select m.id
    from cluster c
    cross join lateral (select m.id from visitors m where m.account_id = ${accountId} and m.merged_into = c.id offset 0) m
  )
  select id from cluster limit ${aliasesMax + 1}`;
