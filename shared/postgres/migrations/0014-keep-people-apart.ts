import { Migration } from '@mikro-orm/migrations';

/**
 * Two people on one device stay two: `signed_in_as` is the visitor to whom events with the row's id alone belong since another
 * person signed in there. `set_by_server` has a bit for each identifier and contact property that a server source has set,
 * which a public key does not overwrite; see shared/visitors/server-set.ts. Of visitors from before, nothing is known to be set
 * by a server. Neither column rewrites the table.
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
