import { Type } from 'typebox';
import { collectionNames } from '../../shared/config/account-config.ts';
import type { CollectionName } from '../../shared/config/account-config.ts';

const notSupported: readonly CollectionName[] = ['experiments', 'experimentVariants'];

/** Collections whose entities have a draft status and can be reverted one by one. */
export const statusCollection = Type.Enum(collectionNames.filter((name) => !notSupported.includes(name)));
