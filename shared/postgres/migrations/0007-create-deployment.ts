import { Migration } from '@mikro-orm/migrations';

/**
 * One row: the id of the deployment whose database this is. The log bears it too, so that a service whose database and
 * log are of two deployments sees it.
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
