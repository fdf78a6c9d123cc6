import { Migration } from '@mikro-orm/migrations';

/**
 * One row: the id of the deployment that this database belongs to. The log stores the id too, so that a service detects
 * a database and a log of different deployments.
 */
export class CreateDeployment extends Migration {
  override up(): void {
    this.addSql(`
      create table deployment (
        only_row boolean primary key default true check (only_row),
        id uuid not null default gen_random_uuid()
      )`);
    this.addSql('insert into deployment default values');
  }

  override down(): void {
    this.addSql('drop table deployment');
  }
}
