import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps two people on one device separate. `signed_in_as` is the visitor of another person who has signed in on the
 * device; events that have only the id of this row belong to that visitor. `set_by_server` has a bit for each
 * identifier and contact property that a server source has set, which a public key cannot overwrite
 * (shared/visitors/server-set.ts); for existing visitors no bit is set. Adding the columns does not rewrite the table.
 */
export class KeepPeopleApart extends Migration {
  override up(): void {
    this.addSql(
      'alter table visitors add column signed_in_as text, add column set_by_server smallint not null default 0',
    );
  }

  override down(): void {
    this.addSql('alter table visitors drop column signed_in_as, drop column set_by_server');
  }
}
