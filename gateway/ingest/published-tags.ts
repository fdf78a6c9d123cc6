import { hashOf } from '../../shared/web-snippet/web-snippet.ts';
import type { TagCollections } from '../../shared/web-snippet/tags/compile-container.ts';

/** The container of a source as JSON, and the hash in its address. */
export type PublishedContainer = { readonly json: string; readonly hash: string };

type CompileContainers = (collections: TagCollections) => ReadonlyMap<string, string>;

/**
 * The tag managers of an account's live version. Containers are compiled at the first request of a page, since most
 * accounts have no tag manager.
 */
export class PublishedTags {
  #collections: TagCollections | undefined;
  #containers: ReadonlyMap<string, PublishedContainer> = new Map();
  readonly #sources: ReadonlySet<string | null>;

  constructor(collections: TagCollections) {
    const enabled = collections.tagManagers.filter(({ status }) => status === 'Enabled');
    this.#sources = new Set(enabled.map(({ sourceId }) => sourceId));
    this.#collections = enabled.length === 0 ? undefined : collections;
  }

  /** Whether a source has a tag manager that is enabled, with tags or without. */
  isOf(sourceId: string): boolean {
    return this.#sources.has(sourceId);
  }

  /** The container of a source; undefined without tags. */
  containerOf(sourceId: string, compile: CompileContainers): PublishedContainer | undefined {
    if (this.#collections !== undefined) {
      const compiled = [...compile(this.#collections)];
      this.#containers = new Map(compiled.map(([id, json]) => [id, { json, hash: hashOf(json) }]));
      this.#collections = undefined;
    }
    return this.#containers.get(sourceId);
  }
}
