package audit

// Rewards corrects the rewards of one group for audited flips. Attempt i has
// reward 1 if cheap[i], less weight[i] if flip[i]; weight is 1/p for an attempt that
// its own or its group's coin audited and 1/Found(k) where a found flip had its
// siblings audited. In expectation they are the full suite's rewards.
//
// advantage is reward less the group's mean. It is not divided by the standard
// deviation: that would be a nonlinear function of noisy rewards, and biased.
func Rewards(cheap, flip []bool, weight []float64) (reward, advantage []float64) {
	reward, advantage = make([]float64, len(cheap)), make([]float64, len(cheap))
	mean := 0.0
	for i := range cheap {
		if cheap[i] {
			reward[i] = 1
		}
		if flip[i] {
			reward[i] -= weight[i]
		}
		mean += reward[i] / float64(len(cheap))
	}
	for i := range reward {
		advantage[i] = reward[i] - mean
	}
	return reward, advantage
}
