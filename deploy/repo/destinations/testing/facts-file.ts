import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';

const object = Type.Record(Type.String(), Type.Unknown());
const source = {
  /** Source of the fact: a page of the platform, else an open implementation at a commit. */
  source: Type.String({ minLength: 10 }),
  /** Day on which the fact was last compared with its source. */
  checked: Type.String({ pattern: String.raw`^20\d\d-[01]\d-[0-3]\d$` }),
};

/** The request that the platform has to receive for one message of a library. */
const Fact = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    /** Settings added to the kind's example; null removes a setting. */
    settings: Type.Optional(object),
    /** Traits of an earlier identify call. */
    person: Type.Optional(object),
    /** Earlier messages. */
    before: Type.Optional(Type.Array(object)),
    /** A message of the event specification or, with `distinct_id`, of PostHog's library. */
    message: object,
    /**
     * Members of the request by path; `next.…` is in the following request. A text `sha256:…` means the hash of the
     * rest.
     */
    sent: Type.Optional(object),
    /** Paths that the request must not have. */
    absent: Type.Optional(Type.Array(Type.String())),
    /** The end of the path of the first request's URL. */
    urlPath: Type.Optional(Type.String({ pattern: '^/' })),
    /** The kind does not send the event: the platform has no use for it. */
    skipped: Type.Optional(Type.Literal(true)),
    /** The kind refuses the event, with these words in the reason. */
    refused: Type.Optional(Type.String({ minLength: 1 })),
    ...source,
  },
  { additionalProperties: false },
);

/** A request that the platform accepts or refuses by its documentation, derived from the request of a fact. */
const PlatformFact = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    /** Name of the fact whose request is changed. */
    of: Type.String(),
    /** Replaced members; null removes a member. */
    change: object,
    accepted: Type.Boolean(),
    ...source,
  },
  { additionalProperties: false },
);

const FactsFile = Type.Object(
  {
    facts: Type.Array(Fact, { minItems: 1 }),
    platform: Type.Optional(Type.Array(PlatformFact)),
  },
  { additionalProperties: false },
);
const factsFile = Compile(FactsFile);

export type Fact = Static<typeof Fact>;
export type PlatformFact = Static<typeof PlatformFact>;
/** `kind` is the id of the kind that the folder declares. */
export type KindFactsFile = Static<typeof FactsFile> & { readonly folder: string };

const destinations = join(import.meta.dirname, '../../../../shared/destinations');

/** The `facts.json` of every kind that has such a file. Throws if a file does not match the schema. */
export function readFactsFiles(): readonly KindFactsFile[] {
  return readdirSync(destinations)
    .filter((folder) => existsSync(join(destinations, folder, 'facts.json')))
    .map((folder) => {
      const value: unknown = JSON.parse(readFileSync(join(destinations, folder, 'facts.json'), 'utf8'));
      if (factsFile.Check(value)) return { folder, ...value };
      const [error] = factsFile.Errors(value);
      throw new Error(`${folder}/facts.json: ${error?.instancePath ?? ''} ${error?.message ?? 'is not valid'}`);
    });
}
