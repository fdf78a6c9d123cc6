import { Migration } from '@mikro-orm/migrations';

/** Whether creating a version of an account publishes it if the request does not set `publish`. */
export class PublishOnCreate extends Migration {
  override up(): void {
    this.addSql('alter table accounts add column publish_on_create boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table accounts drop column publish_on_create');
  }
}
