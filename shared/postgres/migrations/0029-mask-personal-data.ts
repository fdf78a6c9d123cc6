import { Migration } from '@mikro-orm/migrations';

/** Whether keys without the scope `pii:read` are shown personal values by their shape only. */
export class MaskPersonalData extends Migration {
  override up(): void {
    this.addSql('alter table accounts add column masks_personal_data boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table accounts drop column masks_personal_data');
  }
}
