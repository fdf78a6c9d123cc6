import { Migration } from '@mikro-orm/migrations';

/** When each version was live, and who approved it. */
export class RecordPublications extends Migration {
  override up(): void {
    this.addSql(`
      create table publications (
        id bigint generated always as identity primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        version_id uuid not null,
        version_number integer not null,
        version_name text not null,
        published_at timestamptz(3) not null,
        ended_at timestamptz(3),
        actor_id text not null,
        actor_name text not null
      )`);
    this.addSql('create index publications_of_account on publications (account_id, id)');
    // Only the last earlier publication of each version is known; it ended when the next publication began.
    this.addSql(`
      insert into publications
        (account_id, version_id, version_number, version_name, published_at, ended_at, actor_id, actor_name)
      select account_id, id, version_number, name, published_at,
        lead(published_at) over (partition by account_id order by published_at, version_number),
        coalesce(published_by_user_id, ''), coalesce(published_by_user_name, '')
      from versions where published_at is not null
      order by published_at, version_number`);
    this.addSql('alter table accounts add column requires_approval boolean not null default false');
    this.addSql(`
      create table approvals (
        version_id uuid primary key references versions (id) on delete cascade,
        account_id uuid not null references accounts (id) on delete cascade,
        requested_at timestamptz(3) not null,
        requested_by_id text not null,
        requested_by_name text not null,
        comment text,
        live_version_id uuid,
        draft_hash text not null,
        decision text check (decision in ('approved', 'rejected')),
        decided_at timestamptz(3),
        decided_by_id text,
        decided_by_name text,
        decision_comment text,
        used_at timestamptz(3)
      )`);
    this.addSql('create index approvals_of_account on approvals (account_id, requested_at, version_id)');
  }

  override down(): void {
    this.addSql('drop table approvals');
    this.addSql('alter table accounts drop column requires_approval');
    this.addSql('drop table publications');
  }
}
