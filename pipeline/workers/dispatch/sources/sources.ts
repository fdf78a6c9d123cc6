import { DispatchItem } from './dispatch-item.ts';
import { openLogFrames } from './log-source.ts';
import type { LogSourceOptions } from './log-source.ts';
import { openDueRetries, openReleased } from './retry-sources.ts';
import type { RetrySourceOptions } from './retry-sources.ts';
import type { SourceHost } from './source-host.ts';
import type { Taken } from './untried.ts';

export type SourcesOptions = LogSourceOptions &
  RetrySourceOptions & { readonly host: Omit<SourceHost, 'hand'>; fail(error: unknown): void };

/**
 * The sources of a dispatcher's events, each read by a task of its own: the account's log; retries and replays as they
 * fall due; and events that waited for an earlier event of their visitor. A frame is in flight once it is opened.
 */
export class Sources {
  readonly #options: SourcesOptions;
  /** Events that are opened and not yet taken. The readers of the retry log limit their number. */
  #queue: Taken[] = [];

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  begin(): void {
    const { order, host: own, fail } = this.#options;
    const host: SourceHost = {
      ...own,
      hand: (taken) => {
        this.#queue.push(taken);
        own.wake();
      },
    };
    openLogFrames(host, this.#options).catch(fail);
    openDueRetries(host, this.#options).catch(fail);
    if (order !== undefined) openReleased(order, host, this.#options).catch(fail);
  }

  /** Whether all opened events of the retry log are taken. */
  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /**
   * The next event to decide, or the next item that cannot be tried. Takes events of the account's log only if
   * `wantsFresh`.
   */
  take(wantsFresh: boolean): Taken | undefined {
    return this.#queue.shift() ?? (wantsFresh ? this.#takeFresh() : undefined);
  }

  #takeFresh(): Taken | undefined {
    const { inbox } = this.#options;
    const read = inbox.next();
    if (read === undefined || read instanceof DispatchItem) return read;
    return { untried: [{ kind: 'unreadable line', data: read.line }], finish: () => inbox.settle(read) };
  }

  /** Removes opened events that are not yet taken. */
  remove(fits: (item: DispatchItem) => boolean): readonly DispatchItem[] {
    const removed = this.#queue.filter((taken) => taken instanceof DispatchItem).filter(fits);
    if (removed.length > 0) this.#queue = this.#queue.filter((taken) => !removed.some((one) => one === taken));
    return removed;
  }

  /** Opens retries, and up to `releasedMax` events of one visitor that waited. */
  open(releasedMax: number): void {
    this.#options.retries.open();
    this.#options.order?.open(releasedMax);
  }

  close(): void {
    this.#options.retries.close();
    this.#options.order?.close();
  }
}
