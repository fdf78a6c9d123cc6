import type { EntityManager } from '@mikro-orm/postgresql';
import { experimentDefaults, experimentVariantDefaults } from '../../shared/experiments/experiment-bodies.ts';
import type {
  ExperimentBody,
  ExperimentVariant,
  ExperimentVariantBody,
} from '../../shared/experiments/experiment-bodies.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';

/** The variants that an experiment has in the draft. */
export async function loadVariants(
  em: EntityManager,
  accountId: string,
  experimentId: string,
): Promise<ExperimentVariant[]> {
  const rows = await em.find(ConfigEntity, { accountId, collection: 'experimentVariants', body: { experimentId } });
  return rows.map(({ id, body }) => ({ ...readVariantBody(body), id }));
}

/** A stored experiment; fields that an older build did not store have their defaults. */
export function readExperimentBody(body: JsonObject): ExperimentBody {
  return { ...experimentDefaults, ...body } as unknown as ExperimentBody;
}

/** A stored variant; fields that an older build did not store have their defaults. */
export function readVariantBody(body: JsonObject): ExperimentVariantBody {
  return { ...experimentVariantDefaults, ...body } as unknown as ExperimentVariantBody;
}
