import type { Pool } from 'pg';
import { readAssignments } from './assignment-store.ts';
import type { StoredAssignments, VisitorAsked } from './assignment-store.ts';

/** Reads what is stored of visitors; those asked for at one time share a query. */
export type AssignmentReader = {
  read(asked: VisitorAsked): Promise<StoredAssignments>;
};

const visitorsPerQuery = 200;
const queriesMax = 2;

type Waiting = {
  readonly asked: VisitorAsked;
  resolve(stored: StoredAssignments): void;
  reject(error: unknown): void;
};

/** As many wait as there are requests open, and none longer than a query's own deadline allows. */
export function createAssignmentReader(pool: Pool): AssignmentReader {
  const waiting: Waiting[] = [];
  let queries = 0;
  const query = async (batch: readonly Waiting[]): Promise<void> => {
    queries += 1;
    try {
      const found = await readAssignments(
        pool,
        batch.map(({ asked }) => asked),
      );
      batch.forEach(({ asked, resolve }, index) => resolve(found[index] ?? { ...nothing, visitorId: asked.visitorId }));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      queries -= 1;
      next();
    }
  };
  const next = (): void => {
    if (waiting.length === 0 || queries >= queriesMax) return;
    void query(waiting.splice(0, visitorsPerQuery));
    next();
  };
  return {
    read: (asked) =>
      new Promise((resolve, reject) => {
        waiting.push({ asked, resolve, reject });
        // Requests that arrived together are asked for together.
        if (waiting.length === 1) setImmediate(next);
      }),
  };
}

const nothing = { erased: false, assignments: new Map<string, string>() };
