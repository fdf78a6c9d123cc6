import { Migration } from '@mikro-orm/migrations';

/**
 * Changed visitors, by the transaction that changed them. A process that caches visitors reads the changes committed
 * since its last poll, instead of checking each visitor. Triggers write one row per statement, so that no writer can
 * omit a change. New visitors do not count as changes, since no process caches that a visitor does not exist.
 */
export class NoteVisitorChanges extends Migration {
  override up(): void {
    this.addSql(`
      create table visitor_changes (
        xid xid8 not null default pg_current_xact_id(),
        account_ids uuid[] not null,
        ids text[] not null,
        versions integer[] not null
      )`);
    this.addSql('create index visitor_changes_xid on visitor_changes (xid)');
    // The function runs with the owner's rights, so that every writer can record its changes. A deleted visitor counts
    // as changed at any version. A truncation records no ids.
    this.addSql(`
      do $make$ begin execute format($format$
        create function note_visitor_changes() returns trigger language plpgsql
        security definer set search_path = pg_catalog, pg_temp as $$
        begin
          if tg_op = 'TRUNCATE' then
            insert into %1$I.visitor_changes (account_ids, ids, versions) values ('{}', '{}', '{}');
          else
            insert into %1$I.visitor_changes (account_ids, ids, versions)
              select array_agg(account_id), array_agg(id),
                array_agg(case tg_op when 'DELETE' then 2147483647 else version end)
              from changed having count(*) > 0;
          end if;
          return null;
        end $$
      $format$, current_schema()); end $make$`);
    this.addSql(`
      create trigger note_updates after update on visitors referencing new table as changed
        for each statement execute function note_visitor_changes()`);
    this.addSql(`
      create trigger note_deletes after delete on visitors referencing old table as changed
        for each statement execute function note_visitor_changes()`);
    this.addSql(`
      create trigger note_truncates after truncate on visitors
        for each statement execute function note_visitor_changes()`);
  }

  override down(): void {
    this.addSql('drop trigger note_truncates on visitors');
    this.addSql('drop trigger note_deletes on visitors');
    this.addSql('drop trigger note_updates on visitors');
    this.addSql('drop function note_visitor_changes');
    this.addSql('drop table visitor_changes');
  }
}
