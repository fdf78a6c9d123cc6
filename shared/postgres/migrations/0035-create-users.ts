import { Migration } from '@mikro-orm/migrations';

/**
 * People who sign in to the console, each in one account with a role. A session or a sign-in link belongs to a user or
 * to an API key. Control planes of the previous release still write links with a sealed key; such links are valid for
 * an hour and work only on such control planes.
 */
export class CreateUsers extends Migration {
  override up(): void {
    this.addSql(`
      create table users (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        email text not null,
        role text not null,
        subject text,
        created_at timestamptz(3) not null,
        signed_in_at timestamptz(3),
        unique (account_id, email)
      )`);
    // Single sign-on searches all accounts for a person.
    this.addSql('create index users_of_email on users (email)');
    this.addSql('create index users_of_subject on users (subject) where subject is not null');
    this.addSql(`
      alter table sessions
        alter column key_id drop not null,
        add column user_id uuid references users (id) on delete cascade,
        add constraint sessions_have_one_holder check (num_nonnulls(key_id, user_id) = 1)`);
    this.addSql(`
      alter table sign_in_links
        alter column sealed_key drop not null,
        add column key_id uuid references api_keys (id) on delete cascade,
        add column user_id uuid references users (id) on delete cascade`);
    this.addSql('alter table audit_entries add column actor_kind text');
  }

  override down(): void {
    this.addSql('alter table audit_entries drop column actor_kind');
    this.addSql('delete from sign_in_links where sealed_key is null');
    this.addSql(
      'alter table sign_in_links drop column key_id, drop column user_id, alter column sealed_key set not null',
    );
    this.addSql('delete from sessions where key_id is null');
    this.addSql('alter table sessions drop column user_id, alter column key_id set not null');
    this.addSql('drop table users');
  }
}
