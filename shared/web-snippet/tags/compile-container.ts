import { PlanError } from '../../routing/values/plan-error.ts';
import { checkTag, checkTrigger, checkVariable, variablesOf } from './check-tags.ts';
import type { TagFields, TriggerFields, VariableFields } from './check-tags.ts';
import { compilePageLogic } from './compile-page-logic.ts';
import type { Container, ContainerTag, ContainerTrigger, ContainerVariable } from './container.ts';
import type { PageLogic } from './page-logic.ts';
import { tagTypes } from './tag-words.ts';

/** The entities of a version that make up tag managers. */
export type TagCollections = {
  readonly tagManagers: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: string;
    readonly sourceId: string | null;
  }[];
  readonly tagManagerTags: readonly (TagFields & {
    readonly id: string;
    readonly name: string;
    readonly tagManagerId: string;
    readonly status: string;
    readonly priority: number;
    readonly triggerIds: readonly string[];
    readonly blockingTriggerIds: readonly string[];
    readonly purposeIds: readonly string[];
    readonly fires: string;
  })[];
  readonly tagManagerTriggers: readonly (TriggerFields & {
    readonly id: string;
    readonly tagManagerId: string;
    readonly limit: number | null;
  })[];
  readonly tagManagerVariables: readonly (VariableFields & {
    readonly id: string;
    readonly tagManagerId: string;
    readonly defaultValue: string | null;
  })[];
  readonly consentSettings: readonly {
    readonly id: string;
    readonly name: string;
    readonly isEnabled: boolean;
    readonly signals: { readonly gpc?: string; readonly [platform: string]: unknown } | null;
  }[];
};

/** Maximum size of a serialized container. A larger container is refused at publish. */
export const containerBytesMax = 64 * 1024;

/** A container, with the reasons why some tags are left out. */
export type CompiledContainer = { readonly container: Container; readonly problems: readonly string[] };

/** Compiles the container of an enabled tag manager. A tag that does not compile is left out, so it never runs. */
export function compileContainer(collections: TagCollections, tagManagerId: string): CompiledContainer {
  const problems: string[] = [];
  const isOwn = (entity: { readonly tagManagerId: string }): boolean => entity.tagManagerId === tagManagerId;
  const variables = compileVariables(collections.tagManagerVariables.filter(isOwn), problems);
  const triggers: ContainerTrigger[] = [];
  const placeOf = new Map<string, number>();
  for (const trigger of collections.tagManagerTriggers.filter(isOwn)) {
    const compiled = compileTrigger(trigger, Object.keys(variables));
    if (typeof compiled === 'string') {
      problems.push(`trigger ${trigger.id}: ${compiled}`);
      continue;
    }
    placeOf.set(trigger.id, triggers.length);
    triggers.push(compiled);
  }
  const purposes = new Map(collections.consentSettings.map((one) => [one.id, one]));
  const tags = collections.tagManagerTags
    .filter((tag) => isOwn(tag) && tag.status === 'Enabled')
    .toSorted((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
    .flatMap((tag): readonly ContainerTag[] => {
      const compiled = compileTag(tag, { placeOf, purposes, variables: new Set(Object.keys(variables)) });
      if (typeof compiled !== 'string') return [compiled];
      problems.push(`tag ${tag.name}: ${compiled}`);
      return [];
    });
  return { container: { variables, triggers, tags }, problems };
}

/** Why the tag managers of a version cannot be published, in words; empty if they can. */
export function containerProblems(collections: TagCollections): readonly string[] {
  const enabled = collections.tagManagers.filter(({ status }) => status === 'Enabled');
  const sources = new Map<string, string>();
  return enabled.flatMap(({ id, name, sourceId }) => {
    const { container, problems } = compileContainer(collections, id);
    const bytes = Buffer.byteLength(JSON.stringify(container));
    const found = [...problems];
    if (bytes > containerBytesMax) found.push(`takes ${bytes} bytes of at most ${containerBytesMax}`);
    const other = sourceId === null ? undefined : sources.get(sourceId);
    if (other !== undefined) found.push(`has the same source as ${other}: a source has one tag manager`);
    if (sourceId !== null) sources.set(sourceId, name);
    return found.map((problem) => `tag manager ${name}: ${problem}`);
  });
}

/** The containers as JSON, by source id, of sources whose enabled tag manager has a tag that runs. */
export function containersOfSources(collections: TagCollections): ReadonlyMap<string, string> {
  const bySource = new Map<string, string>();
  for (const { id, status, sourceId } of collections.tagManagers) {
    if (status !== 'Enabled' || sourceId === null || bySource.has(sourceId)) continue;
    const { container } = compileContainer(collections, id);
    const json = JSON.stringify(container);
    if (container.tags.length > 0 && Buffer.byteLength(json) <= containerBytesMax) bySource.set(sourceId, json);
  }
  return bySource;
}

function compileVariables(
  own: TagCollections['tagManagerVariables'],
  problems: string[],
): Readonly<Record<string, ContainerVariable>> {
  const variables = new Map<string, ContainerVariable>();
  for (const { name, type, value, defaultValue } of own) {
    const [problem] = checkVariable({ name, type, value });
    if (problem !== undefined) problems.push(`variable ${name}: ${problem.field} ${problem.problem}`);
    else if (variables.has(name)) problems.push(`variable ${name}: another variable has this name`);
    else variables.set(name, [type, value, defaultValue]);
  }
  return Object.fromEntries(variables);
}

function compileTrigger(
  trigger: TagCollections['tagManagerTriggers'][number],
  variables: readonly string[],
): ContainerTrigger | string {
  const [problem] = checkTrigger(trigger);
  if (problem !== undefined) return `${problem.field} ${problem.problem}`;
  const { type, eventName, selector, threshold, intervalMs, limit, logic } = trigger;
  try {
    const compiled = logic === null ? undefined : compilePageLogic(logic);
    const unknown = compiled === undefined ? undefined : unknownVariable(compiled, new Set(variables));
    if (unknown !== undefined) return `logic names ${unknown}, which is not a variable of its tag manager`;
    return {
      type,
      ...(eventName === null ? {} : { event: eventName }),
      ...(selector === null ? {} : { selector }),
      ...(threshold === null ? {} : { percent: threshold }),
      ...(intervalMs === null ? {} : { everyMs: intervalMs }),
      ...(limit === null ? {} : { limit }),
      ...(compiled === undefined ? {} : { logic: compiled }),
    };
  } catch (error) {
    if (error instanceof PlanError) return error.message;
    throw error;
  }
}

function unknownVariable(logic: PageLogic, variables: ReadonlySet<string>): string | undefined {
  switch (logic[0]) {
    case 'and':
    case 'or':
      return logic[1].map((part) => unknownVariable(part, variables)).find((found) => found !== undefined);
    case 'not':
    case 'but':
      return unknownVariable(logic[1], variables);
    default: {
      const [, path] = logic;
      const name = path.startsWith('variables.') ? path.slice('variables.'.length) : undefined;
      return name === undefined || variables.has(name) ? undefined : path;
    }
  }
}

type Known = {
  readonly placeOf: ReadonlyMap<string, number>;
  readonly purposes: ReadonlyMap<string, TagCollections['consentSettings'][number]>;
  readonly variables: ReadonlySet<string>;
};

type Need = NonNullable<ContainerTag['needs']>[number];

/** Signals of consent platforms that may deny a purpose in a page. The tag script does not read them. */
const platforms = ['oneTrust', 'cookiebot', 'didomi', 'tcf', 'gpp'];

function compileTag(tag: TagCollections['tagManagerTags'][number], known: Known): ContainerTag | string {
  const { name, type, content, integrity, properties, triggerIds, blockingTriggerIds, purposeIds, fires } = tag;
  if (!(tagTypes as readonly string[]).includes(type) && type !== 'CustomHtml') return `type ${type} is unknown`;
  const [problem] = checkTag(tag);
  if (problem !== undefined) return `${problem.field} ${problem.problem}`;
  const missing = [...triggerIds, ...blockingTriggerIds].find((id) => !known.placeOf.has(id));
  if (missing !== undefined) return `trigger ${missing} is not one of its tag manager, or cannot be read`;
  const purposes = purposeIds.map((id) => known.purposes.get(id));
  if (purposes.includes(undefined)) return 'purposeIds names a purpose that the version does not have';
  const templates = [content, ...properties.map(({ value }) => value)];
  const unknown = templates.flatMap(variablesOf).find((one) => !known.variables.has(one));
  if (unknown !== undefined) return `{{${unknown}}} is not a variable of its tag manager`;
  const places = (ids: readonly string[]): readonly number[] => ids.map((id) => known.placeOf.get(id) ?? -1);
  // As for destinations, a disabled purpose needs no consent. The page's decisions have names in lower case.
  const needs = purposes.flatMap((one): Need[] => {
    if (one?.isEnabled !== true) return [];
    const need = [one.name.trim().toLowerCase(), one.signals?.gpc ?? 'off'] as const;
    return [platforms.some((name) => one.signals?.[name] !== undefined) ? [...need, true] : need];
  });
  return {
    name,
    type,
    content,
    on: places(triggerIds),
    ...(integrity === null ? {} : { integrity }),
    ...(properties.length === 0 ? {} : { properties: properties.map((one) => [one.name, one.value] as const) }),
    ...(blockingTriggerIds.length === 0 ? {} : { not: places(blockingTriggerIds) }),
    ...(needs.length === 0 ? {} : { needs }),
    ...(fires === 'OncePerPage' ? { once: true as const } : {}),
  };
}
