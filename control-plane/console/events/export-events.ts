import { open } from '../api/request.ts';
import { saveFile } from '../design/save-file.ts';

/** Maximum number of events in one export, which is assembled in the browser's memory. */
export const exportedMax = 10_000;

/** Reads the events that a query selects, newest first, page by page, and downloads them as one CSV or JSON file. */
export async function exportEvents(
  query: string,
  format: 'csv' | 'json',
  onProgress: (events: number) => void,
): Promise<void> {
  const parts: string[] = [];
  const pageEvents = 100;
  let cursor: string | null = '';
  for (let events = 0; cursor !== null && events < exportedMax; events += pageEvents) {
    onProgress(events);
    const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await open(
      'GET',
      `/events?limit=${pageEvents}&format=${format}${query === '' ? '' : `&${query}`}${at}`,
    );
    if (format === 'csv') {
      const text = await answer.text();
      // Only the header line of the first page is kept.
      parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\r\n') + 2));
      cursor = answer.headers.get('x-next-cursor');
    } else {
      const page = (await answer.json()) as {
        readonly entities: readonly unknown[];
        readonly pagination: { readonly nextCursor: string | null };
      };
      parts.push(...page.entities.map((entity) => JSON.stringify(entity)));
      cursor = page.pagination.nextCursor;
    }
  }
  saveFile(`events.${format}`, format === 'csv' ? parts.join('') : `[${parts.join(',\n')}]\n`);
}
