import { Migration } from '@mikro-orm/migrations';

/**
 * A record of each merge of two visitors, so that the merge can be undone. `number` orders the merges of one survivor:
 * a merge that another merge overtook is rolled back. `visitors.joined_to` is the visitor that an alias was merged
 * into, if its shortened chain skips that visitor. `visitors.apart` has the ids of undone merges of the visitor: events
 * do not merge two visitors that share such an id.
 */
export class RecordMerges extends Migration {
  override up(): void {
    this.addSql(`
      create table visitor_merges (
        account_id uuid not null,
        id uuid not null,
        number bigint generated always as identity,
        at timestamptz(3) not null default now(),
        survivor text not null,
        loser text not null,
        cause jsonb not null,
        loser_properties jsonb not null,
        loser_updated_at timestamptz not null,
        loser_set_by_server smallint not null,
        loser_identities jsonb not null,
        survivor_properties jsonb not null,
        survivor_updated_at timestamptz not null,
        survivor_set_by_server smallint not null,
        survivor_apart uuid[],
        merged_properties jsonb not null,
        undone_at timestamptz(3),
        undone_by text,
        primary key (account_id, id)
      )`);
    this.addSql('create index visitor_merges_of_survivor on visitor_merges (account_id, survivor, number)');
    this.addSql('create index visitor_merges_of_loser on visitor_merges (account_id, loser)');
    this.addSql('alter table visitors add column joined_to text, add column apart uuid[]');
  }

  override down(): void {
    this.addSql('alter table visitors drop column joined_to, drop column apart');
    this.addSql('drop table visitor_merges');
  }
}
