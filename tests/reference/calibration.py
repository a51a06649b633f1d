"""The variance of calibrated coefficients, equations 23 and 24 of docs/model.md, factor by factor.

Designs are dense, [M, J], of documents or of groups of documents with the same labels.
"""

from itertools import repeat

import numpy as np
from scipy.special import log_softmax

SPREADS = np.geomspace(0.03, 3.0, 24)


def proportions(regression, design):
    """theta_mk, proportional to exp(u_k + sum_j r_mj v_jk)."""
    return np.exp(log_softmax(design @ regression.coefficients + regression.intercept, axis=1))


def overdispersion(regression, design, tokens):
    """o_k: by how much tokens differ from what is expected, over what they would by chance."""
    theta, found = proportions(regression, design), []
    for k in range(tokens.shape[1]):
        residual = chance = 0.0
        for m, row in enumerate(tokens):
            residual += (row[k] - row.sum() * theta[m, k]) ** 2
            chance += row.sum() * theta[m, k] * (1.0 - theta[m, k])
        found.append(max(residual / chance, 1.0))
    return np.array(found)


def information(regression, design, lengths):
    """H_jk = sum_m r_mj^2 N_m theta_mk (1 - theta_mk)."""
    theta = proportions(regression, design)
    found = np.zeros(regression.coefficients.shape)
    for m, row in enumerate(design):
        for j, value in enumerate(row):
            for k in range(theta.shape[1]):
                found[j, k] += value**2 * lengths[m] * theta[m, k] * (1.0 - theta[m, k])
    return found


def own_share(design, lengths, j, others, ridge=0.0):
    """g_j: the part of a label's sum of squares that the intercept and other labels do not explain.

    What is left of the regression of label j on the others, weighted by tokens, whose coefficients
    have the penalty `ridge`; as much again is known of j beforehand. It is no more than all.
    """
    weight = lengths / lengths.sum()
    centred = design - (weight[:, None] * design).sum(axis=0)
    target, rest = centred[:, j], centred[:, others]
    gram = rest.T @ (lengths[:, None] * rest) + ridge * np.eye(len(others))
    coefficients = np.linalg.solve(gram, rest.T @ (lengths * target))
    left = (lengths * (target - rest @ coefficients) ** 2).sum()
    left += ridge * (coefficients**2).sum() + ridge
    return min(left / (lengths * design[:, j] ** 2).sum(), 1.0)


def own_shares(design, lengths, exclusive, ridge):
    """g_j beside the intercept alone, and beside all other labels; 1 for levels of a category."""
    free = [j for j in range(design.shape[1]) if not exclusive[j]]
    beside_intercept, beside_all = np.ones((2, design.shape[1]))
    for j in free:
        beside_intercept[j] = own_share(design, lengths, j, [])
        others = [other for other in free if other != j]
        beside_all[j] = own_share(design, lengths, j, others, ridge)
    return beside_intercept, beside_all


def own_column(design, lengths, j, others, ridge):
    """r_mj: what the intercept and other columns leave of column j, with their ridge."""
    weight = lengths / lengths.sum()
    centred = design - (weight[:, None] * design).sum(axis=0)
    rest = centred[:, others]
    gram = rest.T @ (lengths[:, None] * rest) + ridge * np.eye(len(others))
    return centred[:, j] - rest @ np.linalg.solve(gram, rest.T @ (lengths * centred[:, j]))


def clustered_dispersion(regression, design, tokens, groups, own, single):
    """Equation 25: o_jk of documents in `groups` [M], given own columns [M, J] and `single` [T]."""
    theta, lengths = proportions(regression, design), tokens.sum(axis=1)
    names = sorted(set(groups))
    n_columns, n_topics = regression.coefficients.shape
    found = np.zeros((n_columns, n_topics))
    for k in range(n_topics):
        residual = tokens[:, k] - lengths * theta[:, k]
        chance = lengths * theta[:, k] * (1.0 - theta[:, k])
        scale = np.sqrt(chance)
        products = possible = 0.0
        for m in range(len(groups)):
            for other in range(len(groups)):
                if m != other and groups[m] == groups[other]:
                    products += residual[m] * residual[other]
                    possible += scale[m] * scale[other]
        correlation = max(products / possible, 0.0)
        for j in range(n_columns):
            r = own[:, j]
            whole = (r**2 * lengths).sum()
            among = alike = 0.0
            for name in names:
                chosen = groups == name
                leverage = (r**2 * lengths)[chosen].sum() / whole
                among += (r * residual)[chosen].sum() ** 2 / (1.0 - min(leverage, 0.99))
                alike += (r * scale)[chosen].sum() ** 2 - (r**2 * chance)[chosen].sum()
            expected = (r**2 * chance).sum()
            floor = single[k] + correlation * max(alike, 0.0) / expected
            found[j, k] = max(among / expected, floor)
    return found


def degrees(lengths, groups, own):
    """How many groups tell of each column, less 1."""
    found = []
    for r in own.T:
        parts = np.array([(r**2 * lengths)[groups == name].sum() for name in sorted(set(groups))])
        found.append(max(parts.sum() ** 2 / (parts**2).sum() - 1.0, 1.0))
    return np.array(found)


def joint_covariance(information, score, penalty, deviation):
    """Equation 26: (H + L)^-1 (M + L T L) (H + L)^-1 of one topic."""
    bread = np.linalg.inv(information + np.diag(penalty))
    return bread @ (score + np.diag(penalty**2 * deviation**2)) @ bread


def block_columns(design, lengths, columns, ridge):
    """What the intercept and columns outside of a block leave of it, with their ridge."""
    weight = lengths / lengths.sum()
    centred = design - (weight[:, None] * design).sum(axis=0)
    others = [j for j in range(design.shape[1]) if j not in columns]
    rest, own = centred[:, others], centred[:, columns]
    gram = rest.T @ (lengths[:, None] * rest) + ridge * np.eye(len(others))
    return own - rest @ np.linalg.solve(gram, rest.T @ (lengths[:, None] * own))


def block_information(regression, design, lengths, own, k):
    """H of a block's own columns [M, B] and a topic."""
    theta = proportions(regression, design)[:, k]
    return sum(
        length * share * (1.0 - share) * np.outer(row, row)
        for length, share, row in zip(lengths, theta, own, strict=True)
    )


def block_score(regression, design, tokens, groups, own, single, k):
    """M of a block's own columns where documents come in groups, for a topic."""
    theta, lengths = proportions(regression, design)[:, k], tokens.sum(axis=1)
    residual = tokens[:, k] - lengths * theta
    found = np.zeros((own.shape[1], own.shape[1]))
    for name in sorted(set(groups)):
        chosen = groups == name
        part = (own**2 * lengths[:, None])[chosen].sum(axis=0) / (own**2 * lengths[:, None]).sum(
            axis=0
        )
        score = (own * residual[:, None])[chosen].sum(axis=0) / np.sqrt(
            1.0 - np.minimum(part, 0.99)
        )
        found += np.outer(score, score)
    # As wide as each column alone.
    chance = block_information(regression, design, lengths, own, k).diagonal()
    alone = clustered_floor(regression, design, tokens, groups, own, single, k)
    wider = np.sqrt(np.maximum(alone * chance / found.diagonal(), 1.0))
    return found * np.outer(wider, wider)


def clustered_floor(regression, design, tokens, groups, own, single, k):
    """The least o_jk of each own column: documents of a group as alike as in all groups."""
    theta, lengths = proportions(regression, design)[:, k], tokens.sum(axis=1)
    residual, chance = tokens[:, k] - lengths * theta, lengths * theta * (1.0 - theta)
    products = possible = 0.0
    for m in range(len(groups)):
        for other in range(len(groups)):
            if m != other and groups[m] == groups[other]:
                products += residual[m] * residual[other]
                possible += np.sqrt(chance[m] * chance[other])
    found = []
    for r in own.T:
        alike = sum(
            (r * np.sqrt(chance))[groups == name].sum() ** 2 - (r**2 * chance)[groups == name].sum()
            for name in sorted(set(groups))
        )
        likeness = max(products / possible, 0.0)
        found.append(single[k] + likeness * max(alike, 0.0) / (r**2 * chance).sum())
    return np.array(found)


def returned_parts(design, theta, lengths, shifts, changes):
    """R_jk, from `changes` [M, T] of tokens by the `shifts` of ln theta, up and down.

    The part of the change that a shift asks for, N theta (shift - its mean), weighted by the shift.
    """
    n_labels, n_topics = design.shape[1], theta.shape[1]
    returned, asked = np.zeros((2, *theta.shape))
    for shift, change in zip(shifts, changes, strict=True):
        for m in range(len(theta)):
            centred = shift[m] - (theta[m] * shift[m]).sum()
            returned[m] += centred * change[m] / 2.0
            asked[m] += lengths[m] * theta[m] * centred**2
    remains = 1.0 - limited(returned.sum() / asked.sum())
    found = np.zeros((n_labels, n_topics))
    for j in range(n_labels):
        weight = design[:, j] ** 2
        whole = (weight * asked.sum(axis=1)).sum()
        part = (weight * returned.sum(axis=1)).sum()
        by_label = 1.0 - limited(part / whole) if whole > 0 else remains
        for k in range(n_topics):
            by_topic = 1.0 - limited(returned[:, k].sum() / asked[:, k].sum())
            found[j, k] = limited(1.0 - by_label * by_topic / remains)
    return found


def limited(part):
    return min(max(part, 0.0), 0.8)


def spread(squares, error):
    """tau_j: the 90 % limit of its posterior, given squared estimates [T] and their variances.

    tau is uniform beforehand, so that a cell of the geometric grid has a probability in proportion
    to its value. The limit is between the upper edges of two cells.
    """
    log_posterior = []
    for tau in SPREADS:
        total = np.log(tau)
        for square, variance in zip(squares, error, strict=True):
            total -= 0.5 * (np.log(tau**2 + variance) + square / (tau**2 + variance))
        log_posterior.append(total)
    posterior = np.exp(np.array(log_posterior) - max(log_posterior))
    posterior /= posterior.sum()
    edges = SPREADS * np.sqrt(SPREADS[1] / SPREADS[0])
    below = 0.0
    for number, weight in enumerate(posterior):
        if below + weight >= 0.9:
            first = edges[number - 1] if number else edges[0]
            return first + (0.9 - below) / weight * (edges[number] - first)
        below += weight
    raise AssertionError("the posterior sums to 1")


def unpenalised_variance(overdispersion, share, information, returned):
    """Equation 23: V_jk = o_k / (g_j H_jk (1 - R_jk)^2)."""
    return overdispersion / (share[:, None] * information * (1.0 - returned) ** 2)


def posterior_variance(unpenalised, spread):
    """Equation 24: Var v_jk = 1 / (1 / V_jk + 1 / tau_j^2)."""
    return 1.0 / (1.0 / unpenalised + 1.0 / spread[:, None] ** 2)


def learn(design, tokens, n_levels, returned, regression_path, sparse):
    """The last regression, and the variance of its coefficients, of documents that are all single.

    Penalties are learned in four rounds of eight sweeps, and used in sixteen more. R and the ridge
    are those of the first round.
    """
    lengths, tokens = tokens.sum(axis=1), tokens.astype(np.float64)
    penalty = np.full((design.shape[1], tokens.shape[1]), 40.0)
    shares = None
    path = regression_path(
        sparse(design), tokens.astype(np.float32), repeat(penalty, 5), [8] * 4 + [16]
    )
    for found in path:
        o = overdispersion(found, design, tokens)
        if shares is None:
            base = np.exp(log_softmax(found.intercept))
            ridge = o.mean() / 0.5 / (base * (1.0 - base)).mean()
            shares = own_shares(design, lengths, n_levels > 0, ridge)
        h = information(found, design, lengths)
        beside_intercept = unpenalised_variance(o, shares[0], h, returned)
        noise = o / (1.0 - returned) ** 2
        tau = np.zeros(len(penalty))
        for j, levels in enumerate(n_levels):
            estimate = found.coefficients[j] * (1.0 + penalty[j] / (shares[0][j] * h[j]))
            free = levels / (levels - 1.0) if levels > 1 else 1.0
            tau[j] = spread(free * estimate**2, beside_intercept[j])
        variance = posterior_variance(unpenalised_variance(o, shares[1], h, returned), tau)
        # Not another array: the next regression of the path has it.
        penalty[:] = noise / tau[:, None] ** 2
    return found, variance
