import { Migration } from '@mikro-orm/migrations';

/** Finds the devices a person is signed in on, which an erasure signs the person out of. Writers do not wait for it. */
export class IndexSignedInDevices extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // What an interrupted run has left is no index that can be used.
    this.addSql('drop index concurrently if exists visitors_signed_in_as');
    this.addSql(
      'create index concurrently visitors_signed_in_as on visitors (account_id, signed_in_as) where signed_in_as is not null',
    );
  }

  override down(): void {
    this.addSql('drop index visitors_signed_in_as');
  }
}
