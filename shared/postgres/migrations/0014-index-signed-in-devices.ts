import { Migration } from '@mikro-orm/migrations';

/**
 * Index of the devices on which a person is signed in, because an erasure signs the person out of them. Created without
 * blocking writers.
 */
export class IndexSignedInDevices extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interrupted run leaves an invalid index.
    this.addSql('drop index concurrently if exists visitors_signed_in_as');
    this.addSql(
      'create index concurrently visitors_signed_in_as on visitors (account_id, signed_in_as) where signed_in_as is not null',
    );
  }

  override down(): void {
    this.addSql('drop index visitors_signed_in_as');
  }
}
