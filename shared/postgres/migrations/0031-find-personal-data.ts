import { Migration } from '@mikro-orm/migrations';

/** Properties that look personal, with the shape of a value. A user may mark a property as not personal. */
export class FindPersonalData extends Migration {
  override up(): void {
    this.addSql(`
      create table personal_data (
        account_id uuid not null,
        event text not null,
        property text not null,
        kind text not null,
        basis text not null,
        seen bigint not null,
        matched bigint not null,
        first_at timestamptz(3) not null,
        last_at timestamptz(3) not null,
        shape text not null,
        dismissed_at timestamptz(3),
        dismissed_by text,
        primary key (account_id, event, property)
      )`);
  }

  override down(): void {
    this.addSql('drop table personal_data');
  }
}
