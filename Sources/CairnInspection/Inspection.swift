// The logic of the inspection tool follows.
