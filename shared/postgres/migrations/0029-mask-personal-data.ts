import { Migration } from '@mikro-orm/migrations';

/** Whether keys without the scope `pii:read` see only the shape of personal values. */
export class MaskPersonalData extends Migration {
  override up(): void {
    this.addSql('alter table accounts add column masks_personal_data boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table accounts drop column masks_personal_data');
  }
}
