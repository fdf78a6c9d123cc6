import type { FastifyInstance } from 'fastify';
import { loadConsole } from './serve-console.ts';
import { loadDocs } from './serve-docs.ts';

/** The pages for people: the console and the documentation. */
export async function loadPages(ingestUrl: string): Promise<(app: FastifyInstance) => void> {
  const [addDocs, addConsole] = await Promise.all([loadDocs(ingestUrl), loadConsole()]);
  return (app) => {
    addDocs(app);
    addConsole(app);
  };
}
