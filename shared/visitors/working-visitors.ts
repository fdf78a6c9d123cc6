import type { KnownVisitors } from './visitor-rows.ts';
import { VisitorProperties } from './visitor-properties.ts';
import { root, workingOf } from './working-visitor.ts';
import type { Working } from './working-visitor.ts';

/** The visitors of an account by their ids, while a batch is processed. */
export class WorkingVisitors {
  readonly #known: KnownVisitors;
  readonly #visitors = new Map<string, Working>();
  #writes = 0;

  constructor(known: KnownVisitors) {
    this.#known = known;
  }

  /** All visitors that the batch has read or created. */
  all(): Iterable<Working> {
    return this.#visitors.values();
  }

  /** The visitor that an id leads to. */
  visitor(id: string): Working | undefined {
    const row = this.row(id);
    return row && root(row);
  }

  /** The visitor with an id, which may be an alias. */
  row(id: string): Working | undefined {
    const working = this.#visitors.get(id);
    if (working !== undefined) return working;
    const stored = this.#known.visitor(id);
    if (stored === undefined) return undefined;
    const rootId = this.storedRoot(id);
    return this.#hold(workingOf(stored, rootId === id ? undefined : this.row(rootId)));
  }

  /** The visitor that an id led to before this batch. */
  storedRoot(id: string): string {
    let found = id;
    for (let next: string | undefined = id; next !== undefined; next = this.#known.visitor(found)?.mergedInto)
      found = next;
    return found;
  }

  create(id: string): Working {
    this.#writes += 1;
    return this.#hold({
      id,
      stored: undefined,
      properties: VisitorProperties.none,
      mergedInto: undefined,
      signedInAs: undefined,
      setByServer: 0,
      apart: [],
      externalIds: 0,
      emails: 0,
      aliases: 0,
      isSeen: false,
      changed: true,
      writtenAt: this.#writes,
    });
  }

  change(visitor: Working, properties: VisitorProperties): void {
    this.#writes += 1;
    visitor.properties = properties;
    visitor.writtenAt = this.#writes;
    visitor.changed = true;
  }

  #hold(visitor: Working): Working {
    this.#visitors.set(visitor.id, visitor);
    return visitor;
  }
}
